/** Small things kept on this device. Storage may be switched off or full: then nothing is remembered, and nothing breaks. */

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`seeklab.${key}`, value);
  } catch {
    // Not remembered.
  }
}

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`seeklab.${key}`);
  } catch {
    return null;
  }
}
