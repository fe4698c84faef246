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

  it("stays at a moment that a part has not come to yet", () => {
    const at = player();
    at.moveTo(350);
    at.setStops([0, 10], 150);
    at.stayAt(350);
    expect([at.time_ns, at.kept_ns]).toEqual([150, 350]);
    at.setStops([0, 10, 20], 400);
    at.stayAt(at.kept_ns);
    expect([at.time_ns, at.kept_ns]).toEqual([350, 350]);
    at.setStops([0, 10], 150);
    at.stayAt(350);
    at.moveTo(50);
    expect(at.kept_ns).toBe(50);
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

describe("a stretch in which nothing happens", () => {
  const playFor = (events: number[], ms: number) => {
    vi.stubGlobal("matchMedia", () => ({ matches: false }));
    vi.useFakeTimers();
    try {
      const at = new Player({ onMove: vi.fn(), onState: vi.fn() });
      at.setStops([0], 10e9);
      at.setEvents(events);
      at.speed = 0.001;
      at.play();
      vi.advanceTimersByTime(ms);
      const seen = { time_ns: at.time_ns, isRacing: at.isRacing };
      at.pause();
      return seen;
    } finally {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    }
  };

  it("takes less than a second, and the clock says that it races", () => {
    const { time_ns, isRacing } = playFor([0, 2e9, 9e9], 400);
    expect(isRacing).toBe(true);
    expect(time_ns).toBeGreaterThan(0.8e9);
    expect(time_ns).toBeLessThan(1.2e9);
  });

  it("is none where events are near each other, nor without any", () => {
    const events = Array.from({ length: 100 }, (_, nth) => nth * 1e5);
    for (const some of [events, []]) {
      const { time_ns, isRacing } = playFor(some, 400);
      expect(isRacing).toBe(false);
      expect(time_ns).toBeLessThan(0.5e6);
    }
  });
});

describe("a part of a run", () => {
  const playFor = (ms: number, at_ns?: number) => {
    vi.stubGlobal("matchMedia", () => ({ matches: false }));
    vi.useFakeTimers();
    try {
      const at = new Player({ onMove: vi.fn(), onState: vi.fn() });
      at.setStops([0], 10e9);
      at.playSpan(2e9, 6e9, at_ns);
      vi.advanceTimersByTime(ms);
      const seen = { time_ns: at.time_ns, isPlaying: at.isPlaying };
      at.pause();
      return seen;
    } finally {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    }
  };

  it("goes on from a moment in it as fast as from its start, and holds at its end", () => {
    expect(playFor(1000).time_ns).toBeCloseTo(3e9, -8);
    expect(playFor(1000, 4e9).time_ns).toBeCloseTo(5e9, -8);
    expect(playFor(3000, 4e9)).toEqual({ time_ns: 6e9, isPlaying: false });
  });

  it("does not move where it has come to its end already", () => {
    expect(playFor(500, 6e9)).toEqual({ time_ns: 6e9, isPlaying: false });
  });
});
