import axe from 'axe-core';
import type { Page } from 'puppeteer-core';

/** The serious and critical findings of axe. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return (await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.flat().join(' ')).join(', ')))`)) as string[];
}
