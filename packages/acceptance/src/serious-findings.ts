import axe from 'axe-core';
import type { Page } from 'puppeteer-core';

/** The rules of axe that depend on the colours of a page. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'] as const;

/** The serious and critical findings of axe. `rules` are the ids of its rules to check; all by default. */
export async function seriousFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  // Its source is half a megabyte, and a page keeps it.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe.source);
  return (await page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) =>
    violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.flat().join(' ')).join(', ')))`)) as string[];
}
