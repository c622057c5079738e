import { expect } from '@jest/globals';
import {
  click,
  fill,
  follow,
  heading,
  inspect,
  signIn,
  target,
  testInBrowser,
  textOf,
  untilText,
  useConsole,
} from '../src/console.ts';

useConsole();

testInBrowser('a key is created, used and revoked', async () => {
  const opened = await signIn();
  const { page } = opened;
  await follow(page, 'Keys');
  await heading(page, 'Keys');
  await click(page, 'Create key');
  await fill(page, 'Name', 'Console key');
  const checked = () =>
    page.$$eval('input[type="checkbox"]:checked', (boxes) => boxes.map((box) => box.getAttribute('value')));
  expect(await checked()).toEqual(['videos:read', 'videos:write']);
  await click(page, 'Everything');
  expect(await checked()).toContain('api_keys:write');
  await click(page, 'Upload videos');
  expect(await checked()).toEqual(['videos:write']);
  await click(page, 'Read only');
  expect(new Set((await checked()).map((each) => each?.split(':')[1]))).toEqual(new Set(['read']));
  await click(page, 'Upload videos');
  for (const permission of ['videos:read', 'videos:write'])
    await (await page.waitForSelector(`input[type="checkbox"][value="${permission}"]`))?.click();
  await (await page.waitForSelector('::-p-aria([name="Expires"][role="combobox"])'))?.select('30');
  await (await page.waitForSelector('::-p-aria([name="Environment of the key"][role="combobox"])'))?.select(
    'test',
  );
  await inspect(opened, 'create-key');
  await click(page, 'Create');
  await untilText(page, 'Copy the key now.');
  const secret = await textOf(page, 'Key “Console key”');
  expect((await textOf(page, 'Try it')).split('\n')[0]).toBe(`KEY=${secret}`);
  const whoami = () =>
    fetch(`${target.baseUrl}/auth/whoami`, {
      headers: { Authorization: `Bearer ${secret}`, 'X-Svc-Workspace': target.workspaceId },
    });
  const used = await whoami();
  expect(used.status).toBe(200);
  expect(await used.json()).toMatchObject({ environment: 'test', permissions: ['videos:read'] });

  // Only "Done" closes the dialog with the secret.
  await page.keyboard.press('Escape');
  expect(await textOf(page, 'Key “Console key”')).toBe(secret);
  await click(page, 'Done');
  await page.reload();
  await untilText(page, 'Console key');
  await untilText(page, 'used just now');
  await untilText(page, 'expires ');
  expect(await page.content()).not.toContain(secret);
  await inspect(opened, 'keys');
  await click(page, 'Revoke Console key');
  await click(page, 'Revoke key');
  await page.waitForFunction(`document.querySelector('[aria-label="Revoke Console key"]') === null`);
  expect((await whoami()).status).toBe(401);
});
