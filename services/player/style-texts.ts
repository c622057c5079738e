import { globalThis as mediaChromeGlobals } from 'media-chrome/dist/utils/server-safe-globals.js';

type ElementClass = { getTemplateHTML?(attributes: object, properties: object): string };

/**
 * The text of every `<style>` that the elements of the page put into their shadow roots. Runs in Node, where media-chrome and
 * hls-video-element can be loaded without a browser.
 */
export async function styleTexts(): Promise<string[]> {
  const classes: ElementClass[] = [];
  const registry = {
    get: () => undefined,
    define: (_name: string, element: ElementClass) => void classes.push(element),
    whenDefined: async () => undefined,
  };
  Object.assign(mediaChromeGlobals, { customElements: registry });
  Object.assign(globalThis, { customElements: registry });
  await import('./src/elements.ts');
  return classes.flatMap((element) => {
    const html = element.getTemplateHTML?.({}, {}) ?? '';
    return [...html.matchAll(/<style[^>]*>(.*?)<\/style>/gs)].map(([, text = '']) => text);
  });
}
