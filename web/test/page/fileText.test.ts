// @vitest-environment node
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { refusals, textOfFile } from "../../src/page/shared/fileText.ts";

const file = (name: string, ...parts: (Uint8Array<ArrayBuffer> | string)[]) => new File(parts, name);
const packed = (bytes: Uint8Array | string) => new Uint8Array(gzipSync(bytes));

describe("the text of a file", () => {
  it("comes back as it is, gzipped or not, with letters that lie across two pieces", async () => {
    const text = "op,lbn\n" + "ß→🚀".repeat(100_000);
    expect(await textOfFile(file("t.csv", text), 2 ** 20)).toBe(text);
    expect(await textOfFile(file("t.csv.gz", packed(text)), 2 ** 20)).toBe(text);
    expect(await textOfFile(file("empty.csv"), 1)).toBe("");
  });

  it("may be as long as the limit, and not a byte longer", async () => {
    expect(await textOfFile(file("t.csv", "abcd"), 4)).toBe("abcd");
    await expect(textOfFile(file("t.csv", "abcde"), 4)).rejects.toThrow(/^t\.csv: .* 4\u00a0B\b/);
    expect(await textOfFile(file("t.csv.gz", packed("abcd")), 4)).toBe("abcd");
    await expect(textOfFile(file("t.csv.gz", packed("abcde")), 4)).rejects.toThrow(/^t\.csv\.gz: .* 4\u00a0B\b/);
  });

  it("is refused by its name and the limit when a small gzip file grows beyond it, long before its end", async () => {
    const bomb = packed(new Uint8Array(2 ** 28));
    expect(bomb.length).toBeLessThan(2 ** 19);
    const decoded = vi.spyOn(TextDecoder.prototype, "decode");
    await expect(textOfFile(file("bomb.csv.gz", bomb), 2 ** 20)).rejects.toThrow(/^bomb\.csv\.gz: .* 1\u00a0MiB\b/);
    const kept = decoded.mock.calls.reduce((sum, [piece]) => sum + (piece === undefined ? 0 : piece.byteLength), 0);
    expect(kept).toBeLessThanOrEqual(2 ** 20);
    decoded.mockRestore();
  });

  it("is refused when the gzip file is damaged or the text is not UTF-8", async () => {
    const whole = packed("op,lbn\n".repeat(1000));
    await expect(textOfFile(file("cut.gz", whole.slice(0, -20)), 2 ** 20)).rejects.toThrow(
      `cut.gz: ${refusals.damaged}.`,
    );
    const latin = Uint8Array.of(0x67, 0x72, 0xfc, 0x6e);
    await expect(textOfFile(file("latin.csv", latin), 2 ** 20)).rejects.toThrow(`latin.csv: ${refusals.encoding}.`);
    await expect(textOfFile(file("latin.gz", packed(latin)), 2 ** 20)).rejects.toThrow(
      `latin.gz: ${refusals.encoding}.`,
    );
  });
});
