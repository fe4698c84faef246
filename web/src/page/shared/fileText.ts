/**
 * The text of a file that a reader chose, gzipped or not, up to a limit.
 *
 * A few kilobytes of gzip can hold gigabytes. So the bytes are counted while they come out, and reading stops at the first
 * piece that goes beyond the limit: memory never holds more than the limit and one piece.
 */
import { formatBytes } from "../../base/format.ts";

/** Why a file is refused, whatever its size. */
export const refusals = {
  damaged: "is a damaged gzip file",
  unreadable: "cannot be read",
  encoding: "is not UTF-8 text",
} as const;

/** Throws a sentence that names the file when it is too large, a damaged gzip file, or not UTF-8. */
export async function textOfFile(file: File, most_bytes: number): Promise<string> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const bytes = isGzip ? unzipped(file) : file.stream();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = bytes.getReader();
  const pieces: string[] = [];
  let read_bytes = 0;
  try {
    for (;;) {
      const { done, value } = await nextPiece(reader, file, isGzip);
      if (done) break;
      read_bytes += value.length;
      if (read_bytes > most_bytes) {
        const kind = isGzip ? "unpacks to" : "holds";
        throw new Error(`${file.name}: ${kind} more than ${formatBytes(most_bytes)}, the maximum for this page.`);
      }
      pieces.push(decode(file, () => decoder.decode(value, { stream: true })));
    }
    pieces.push(decode(file, () => decoder.decode()));
  } finally {
    // Whatever has not been read yet is dropped; the reason that the reader sees has been thrown already.
    await reader.cancel().catch(() => undefined);
  }
  return pieces.join("");
}

function unzipped(file: File): ReadableStream<Uint8Array> {
  return file.stream().pipeThrough(new DecompressionStream("gzip"));
}

async function nextPiece(reader: ReadableStreamDefaultReader<Uint8Array>, file: File, isGzip: boolean) {
  try {
    return await reader.read();
  } catch (error) {
    throw new Error(`${file.name}: ${isGzip ? refusals.damaged : refusals.unreadable}.`, { cause: error });
  }
}

function decode(file: File, text: () => string): string {
  try {
    return text();
  } catch (error) {
    throw new Error(`${file.name}: ${refusals.encoding}.`, { cause: error });
  }
}
