/** The few values of a drive's file that a reader may turn, and the file with them turned. */
import type { Changes, Control } from "../../engine/types.ts";

/** Values by name; what is absent is as the file has it. */
export type Knobs = Changes;

interface DriveFile {
  readonly mechanics: Record<string, unknown>;
  readonly electronics_and_buffer: Record<string, unknown>;
  readonly seek_ms_by_cylinders?: readonly (readonly [number, number])[];
}

const rotation = "Rotation speed (in rpms)";
const readAhead = "Maximum read-ahead (blks)";

function fileOf(text: string): Partial<DriveFile> {
  try {
    return JSON.parse(text) as Partial<DriveFile>;
  } catch {
    // The engine says what is wrong with a file that is none.
    return {};
  }
}

/** A slider for each knob that the file has. */
export function knobsOf(text: string): Control[] {
  const { mechanics, electronics_and_buffer, seek_ms_by_cylinders } = fileOf(text);
  const list: Control[] = [];
  const rpm = Number(mechanics?.[rotation]);
  if (rpm > 0) {
    const [min, max] = [Math.round(rpm * 0.9), Math.round(rpm * 1.1)];
    list.push({
      path: "rpm",
      title: "Rotation",
      help: "Revolutions per minute",
      unit: "rpm",
      min,
      max,
      step: 1,
      value: rpm,
    });
  }
  if ((seek_ms_by_cylinders?.length ?? 0) > 0) {
    const help = "All times of the seek curve, relative to the file";
    list.push({ path: "seek", title: "Seek times", help, unit: "%", min: 80, max: 120, step: 1, value: 100 });
  }
  const blocks = Number(electronics_and_buffer?.[readAhead]);
  if (blocks > 0) {
    const help = "Blocks that the drive reads ahead into its buffer after a read";
    list.push({
      path: "ahead",
      title: "Read-ahead",
      help,
      unit: "blocks",
      min: 0,
      max: 2 * blocks,
      step: Math.max(1, Math.round(blocks / 16)),
      value: blocks,
    });
  }
  return list;
}

/** The file with its knobs turned. */
export function withKnobs(text: string, set: Knobs): string {
  const file = fileOf(text);
  const number = (name: string) => (typeof set[name] === "number" ? set[name] : undefined);
  const [rpm, seek, ahead] = [number("rpm"), number("seek"), number("ahead")];
  if (rpm === undefined && seek === undefined && ahead === undefined) return text;
  return JSON.stringify({
    ...file,
    mechanics: { ...file.mechanics, ...(rpm === undefined ? {} : { [rotation]: rpm }) },
    electronics_and_buffer: {
      ...file.electronics_and_buffer,
      ...(ahead === undefined ? {} : { [readAhead]: ahead }),
    },
    ...(seek === undefined
      ? {}
      : { seek_ms_by_cylinders: file.seek_ms_by_cylinders?.map(([distance, ms]) => [distance, (ms * seek) / 100]) }),
  });
}
