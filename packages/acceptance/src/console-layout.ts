import type { Page } from 'puppeteer-core';

/** The elements that are too small for their content: the page itself, and fields with text to copy. */
const CUT = `[document.documentElement, ...document.querySelectorAll('.copy-lines')]
  .filter((each) => each.localName === 'html' ? each.scrollWidth > each.clientWidth : each.scrollHeight > each.clientHeight)
  .map((each) => each.outerHTML.slice(0, 200))`;

/** The beginnings of the elements of a page that are too small for their content. */
export async function cutElements(page: Page): Promise<string[]> {
  return (await page.evaluate(CUT)) as string[];
}

/** Shows the page in light or dark. Resolves once its colours no longer change, which axe would report as too little contrast. */
export async function showScheme(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.waitForSelector(`html[data-mantine-color-scheme="${scheme}"]`);
  await untilStill(page);
}

/** Waits for the end of all transitions. An icon that turns while something runs never ends. */
export async function untilStill(page: Page): Promise<void> {
  await page.waitForFunction(
    'document.getAnimations().every((each) => each.effect?.getTiming().iterations === Infinity)',
  );
}
