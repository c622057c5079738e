/**
 * Reads a JSON value from the storage of the player's origin; undefined if there is none. Browsers refuse storage in a frame with `sandbox`, or by a
 * setting of the viewer.
 */
export function readKept(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a JSON value, if the browser allows it. */
export function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The video plays without it.
  }
}
