/** The most tags that are suggested. */
const SUGGESTIONS = 8;

/** Tags to suggest: known ones that contain what is typed and are not chosen, in their order. */
export function suggestedTags(
  known: readonly string[],
  { chosen, typed }: { chosen: readonly string[]; typed: string },
): string[] {
  const text = typed.trim().toLowerCase();
  return known
    .filter((tag) => !chosen.includes(tag) && tag.toLowerCase().includes(text))
    .slice(0, SUGGESTIONS);
}

/** What is typed of a list with commas: the tags before the last comma, and the text after it. */
export function splitTyped(typed: string): { chosen: string[]; typed: string } {
  const parts = typed.split(',').map((part) => part.trim());
  return { chosen: parts.slice(0, -1).filter((part) => part !== ''), typed: parts.at(-1) ?? '' };
}

/** The list with a tag instead of the text after its last comma. */
export function completeTyped(typed: string, tag: string): string {
  return [...splitTyped(typed).chosen, tag, ''].join(', ');
}

/** All tags of these videos, those of most of them first. */
export function tagsOf(videos: readonly { tags: readonly string[] }[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of videos.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([tag]) => tag);
}
