/** Calls that wait for a hand to rest. */

/** Calls once the hand has rested for a while, and now and then while it moves. */
export function whileMoving(call: () => void, { restMs, intervalMs }: { restMs: number; intervalMs: number }) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let called_ms = Number.NEGATIVE_INFINITY;
  return (): void => {
    const isLate = performance.now() - called_ms > intervalMs;
    if (timer !== undefined && isLate) return;
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        timer = undefined;
        called_ms = performance.now();
        call();
      },
      isLate ? 0 : restMs,
    );
  };
}

/** Calls once nothing has moved for so long. */
export function afterRest(call: () => void, restMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (): void => {
    clearTimeout(timer);
    timer = setTimeout(call, restMs);
  };
}
