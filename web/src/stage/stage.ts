/** A stage: a moving picture of a run that owns its moment in time. Its owner decides which run. */
import type { AskEngine, Result } from "../engine/api.ts";
import type { Changes, Control } from "../engine/types.ts";
import type { Focus } from "../charts/chart.ts";

/** The fields of the scenario that the reader may change, for stages on which something can be dragged. */
export interface Fields {
  /** Return the case's control for a field; nothing if it offers none. */
  control(path: string): Control | undefined;
  /** New values while the hand moves. */
  onInput(values: Changes): void;
  /** New values once it has let go. */
  onChange(values: Changes): void;
}

export interface StageOptions {
  readonly focus: Focus;
  /** Called when the moment shown comes to rest. */
  readonly onRest?: () => void;
  /** Asks the engine, where a stage answers questions of its own. */
  readonly ask?: AskEngine;
}

/** A run to be played beside the other on the same clock. */
export interface Beside {
  readonly result: Result;
  readonly label: string;
  /** Label of the original run when there are two. */
  readonly own: string;
}

export interface Stage {
  /** The picture and its clock. */
  readonly element: HTMLElement;
  /** Words about the picture: the moment, the key, a table. Their owner places them. */
  readonly foot: HTMLElement;
  /** Shows a run at the same moment as the one before. A run to compare with keeps the scales of both the same. */
  show(result: Result, reference?: Result): void;
  /** Plays another run beside it, or nothing any more; a stage that cannot has no such thing. */
  beside?(other: Beside | undefined): void;
  /** Plays the opening by itself. */
  autoplay(): void;
  /** Plays a part of the run in a few seconds and holds at its end, while all but some places of the picture is dimmed; `at_ns` is the moment to go on from. A stage that plays no run has no such thing. */
  playSpan?(from_ns: number, to_ns: number, look?: readonly string[], at_ns?: number): void;
  /** The names of the parts of the picture that a step can point at. */
  readonly places?: readonly string[];
  /** Plays from the beginning, as when the reader presses Play there. */
  replay(): void;
  /** Offers fields of the scenario to be dragged; a stage takes those that it draws. */
  setFields(fields: Fields): void;
  /** The index of the request shown, 0 where a stage shows no single request. */
  readonly request: number;
  /** The moment of the run that is shown, 0 where a stage shows none. */
  readonly moment_ns: number;
  /** Stops listening and moving. */
  dispose(): void;
}
