/** Code, which has no links, or the target of a link or an image. */
const CODE_OR_TARGET = /^(```+)[^\n]*\n[\s\S]*?^\1|`[^`\n]*`|\]\(([^)\s]+)\)/gm;

/** Replaces the target of each link and image of a Markdown text. */
export function replaceTargets(markdown: string, replace: (target: string) => string): string {
  return markdown.replace(CODE_OR_TARGET, (whole, _fence, target?: string) =>
    target === undefined ? whole : `](${replace(target)})`,
  );
}

/** The name that GitHub gives a heading in a URL. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
