/** A shortcut of the page: a key, or two keys one after the other, such as `g v`. */
export type Shortcut = { keys: string; words: string };

/** The effect of a key after the pending ones: the shortcut that it completes, or the keys that are pending now. */
export function matchKey<Each extends Shortcut>(
  pending: string,
  key: string,
  shortcuts: Iterable<Each>,
): { found?: Each; pending: string } {
  const all = [...shortcuts];
  for (const typed of pending === '' ? [key] : [`${pending} ${key}`, key]) {
    const found = all.find(({ keys }) => keys === typed);
    if (found !== undefined) return { found, pending: '' };
    if (all.some(({ keys }) => keys.startsWith(`${typed} `))) return { pending: typed };
  }
  return { pending: '' };
}
