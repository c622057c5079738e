/** What is known about a file before it is read. */
type FileFacts = { name: string; type: string };

/**
 * Whether `accept` of an input allows a file: extensions such as `.mkv`, types such as `video/mp4`, and groups such as `video/*`. Browsers
 * apply `accept` only to files that are chosen, not to those that are dropped. A file whose type the system does not know may have each type.
 */
export function isAccepted({ name, type }: FileFacts, accept: string): boolean {
  const allowed = accept
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  const actual = type.toLowerCase();
  return (
    allowed.length === 0 ||
    allowed.some((each) => {
      if (each.startsWith('.')) return name.toLowerCase().endsWith(each);
      if (actual === '') return true;
      return each.endsWith('/*') ? actual.startsWith(each.slice(0, -1)) : actual === each;
    })
  );
}
