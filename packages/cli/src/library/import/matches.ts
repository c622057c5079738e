/** Which items to import. An empty list of patterns includes everything. */
export type Filter = { include: readonly string[]; exclude: readonly string[] };

/** Whether a name is wanted. In patterns `*` stands for any text; case does not matter. */
export function isWanted(name: string, { include, exclude }: Filter): boolean {
  if (exclude.some((pattern) => matches(name, pattern))) return false;
  return include.length === 0 || include.some((pattern) => matches(name, pattern));
}

/** Linear in the length of the name for each part of the pattern: the first place of a part is always the best one. */
function matches(name: string, pattern: string): boolean {
  const text = name.toLowerCase();
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}
