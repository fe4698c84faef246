/** The engine's thread: hears {@link ToWorker}, runs in slices so that a cancel is heard between two of them. */
import { call, initSync, Run } from "seeklab-engine";
import type { Scenario } from "../generated/scenario.ts";
import { Cancelled, type Result, unwrap } from "./api.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { readResult, problemsOf, scenarioOf, simulate, type OpenRun } from "./simulate.ts";

const engine = { call, Run };
const running = new Set<number>();
const finished = new Map<string, OpenRun>();
/** Actions after the page has drawn the last partial result of a run. */
const drawn = new Map<number, () => void>();

/** Events between two looks at the messages, of a run that shows nothing before it has ended: a few milliseconds. */
const summarySliceEvents = 20_000;

self.onmessage = (event: MessageEvent<ToWorker>) => void hear(event.data);

async function hear(message: ToWorker): Promise<void> {
  if (message.kind === "engine") {
    initSync({ module: message.module });
    call("give_library", message.library);
    return;
  }
  if (message.kind === "cancel") {
    running.delete(message.id);
    return;
  }
  if (message.kind === "drawn") {
    drawn.get(message.id)?.();
    return;
  }
  const { id } = message;
  if (message.kind === "run" || message.kind === "summary") running.add(id);
  try {
    if (message.kind === "call") {
      send({ kind: "answer", id, value: unwrap(call(message.name, JSON.stringify(message.input))) });
    } else if (message.kind === "text") {
      const run = finished.get(message.slot);
      if (run === undefined) throw new Error("There is no finished run yet.");
      send({ kind: "answer", id, value: unwrap(run.text(JSON.stringify(message.request))) });
    } else if (message.kind === "summary") {
      const run = await simulate(engine, message.request, {
        sliceEvents: summarySliceEvents,
        cancelled: () => !running.has(id),
      });
      const json = run.summary();
      run.free();
      send({ kind: "answer", id, value: unwrap(json) });
    } else {
      if (!running.has(id)) throw new Cancelled();
      let known: Scenario | undefined;
      const scenario = () => (known ??= scenarioOf(engine, message.request));
      const run = await simulate(engine, message.request, {
        cancelled: () => !running.has(id),
        onProgress: (progress) => send({ kind: "progress", id, progress }),
        ...(message.partials
          ? {
              onPartial: (open: OpenRun) => {
                sendResult("partial", id, readResult(open, scenario()));
                return new Promise<void>((resolve) => drawn.set(id, resolve));
              },
            }
          : {}),
      });
      finished.get(message.slot)?.free();
      finished.set(message.slot, run);
      sendResult("result", id, readResult(run, scenario()));
    }
  } catch (error) {
    if (error instanceof Cancelled) send({ kind: "cancelled", id });
    else send({ kind: "problems", id, problems: problemsOf(error) });
  } finally {
    running.delete(id);
    drawn.delete(id);
  }
}

function sendResult(kind: "result" | "partial", id: number, result: Result): void {
  const buffers = Object.values(result.columns).map((values) => values.buffer as ArrayBuffer);
  send({ kind, id, result }, buffers);
}

function send(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}
