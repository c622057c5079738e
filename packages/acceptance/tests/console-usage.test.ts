import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { makeMp4 } from '../src/clips.ts';
import {
  click,
  client,
  follow,
  heading,
  inspect,
  problemsOf,
  publicUrl,
  signIn,
  testInBrowser,
  untilText,
  useConsole,
} from '../src/console.ts';

useConsole();

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-console-usage-'));
  const plan = { name: 'usage', width: 320, height: 180, rate: '25', seconds: 1, audio: null };
  await client.publish(await makeMp4(directory, plan));
});
afterAll(() => rm(directory, { recursive: true }));

testInBrowser(
  'usage has charts, figures, limits and a CSV file, with the period in the address',
  async () => {
    const opened = await signIn();
    const { page } = opened;
    await follow(page, 'Usage');
    await heading(page, 'Usage');
    await page.waitForFunction(`document.querySelectorAll('.chart canvas').length === 3`);
    await untilText(page, 'no limit');
    await untilText(page, 'The operator sets limits');
    await untilText(page, 'limits set --workspace');
    await inspect(opened, 'usage');

    await page.select('main select', '2');
    await page.waitForFunction(`location.search === '?months=2&by=day'`);
    await page.locator('summary').click();
    const today = new Date().toISOString().slice(0, 10);
    await page.waitForFunction(`document.querySelectorAll('.figures tbody tr').length > 58`);
    // In the form of the browser.
    const form = `{ dateStyle: 'medium', timeZone: 'UTC' }`;
    await untilText(
      page,
      String(await page.evaluate(`new Date('${today}').toLocaleDateString(undefined, ${form})`)),
    );
    await untilText(page, 'not recorded');

    await page.goto(`${publicUrl}/console/usage?months=2&by=month`);
    await page.waitForFunction(`document.querySelectorAll('.figures tbody tr').length === 3`);
    await page.evaluate(`{
    const create = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      blob.text().then((text) => { window.csv = text; });
      return create(blob);
    };
  }`);
    await click(page, 'Download CSV');
    await page.waitForFunction(`window.csv !== undefined`);
    const [head, ...rows] = String(await page.evaluate('csv'))
      .trimEnd()
      .split('\r\n');
    expect(head).toBe('period,storage_bytes,transcoded_minutes,bandwidth_bytes');
    const { transcodedMinutes } = await client.api.account.usage();
    expect(rows).toHaveLength(3);
    expect(rows[2]).toMatch(new RegExp(`^${today.slice(0, 7)},\\d+,`));
    expect(transcodedMinutes).toBeGreaterThan(0);
    expect(Number(rows[2]?.split(',')[2])).toBe(transcodedMinutes);
    expect(problemsOf(opened)).toEqual([]);
  },
);
