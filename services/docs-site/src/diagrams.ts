import { createHash } from 'node:crypto';
import { renderMermaidSVG } from 'beautiful-mermaid';

/** Colours of a diagram, as those of the pages. */
const THEMES = {
  light: { bg: '#ffffff', fg: '#1c2430' },
  dark: { bg: '#12161d', fg: '#dfe5ee' },
};

/** A diagram as an image for light and dark pages. */
export type Diagram = {
  name: string;
  width: number;
  height: number;
  svg: Record<keyof typeof THEMES, string>;
};

/** Draws a Mermaid text. An image is a document of its own, so the pages need no policy for its styles. */
export function drawDiagram(text: string): Diagram {
  const [light, dark] = [THEMES.light, THEMES.dark].map((theme) => draw(text, theme)) as [string, string];
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(light) ?? [];
  const hash = createHash('sha256').update(light).digest('hex').slice(0, 8);
  return {
    name: `diagram-${hash}`,
    width: Math.ceil(Number(width)),
    height: Math.ceil(Number(height)),
    svg: { light, dark },
  };
}

/** Without the fonts of a third party, which an image would not load. */
function draw(text: string, theme: (typeof THEMES)['light']): string {
  return renderMermaidSVG(text, { ...theme, font: 'system-ui' }).replace(/@import url\([^)]*\);/g, '');
}
