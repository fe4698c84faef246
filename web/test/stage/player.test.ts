import { describe, expect, it, vi } from "vitest";
import { Player } from "../../src/stage/player.ts";

function player(): Player {
  const made = new Player({ onMove: vi.fn(), onState: vi.fn() });
  made.setStops([0, 100, 200, 300], 400);
  return made;
}

describe("a player that gets a run in parts", () => {
  it("is at its place again when the part that lacked it has become whole", () => {
    const at = player();
    at.moveTo(350);
    at.setStops([0, 100], 150);
    expect(at.time_ns).toBeLessThanOrEqual(150);
    at.setStops([0, 100, 200, 300], 400);
    expect(at.time_ns).toBe(350);
  });

  it("stays where the reader went in the meantime", () => {
    const at = player();
    at.moveTo(350);
    at.setStops([0, 100], 150);
    at.moveTo(50);
    at.setStops([0, 100, 200, 300], 400);
    expect(at.time_ns).toBe(50);
  });
});
