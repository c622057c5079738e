import { createClient, unwrap } from '@framelane/client';
import { until } from '@framelane/test-kit/until';
import { expect } from '@jest/globals';
import {
  click,
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

testInBrowser('from the errors in groups to a request, and to the command that repeats it', async () => {
  const api = createClient(target);
  const path = `/videos/vid_of_this_test_${Date.now()}`;
  const response = await fetch(`${target.baseUrl}${path}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${target.apiKey}`,
      'x-svc-workspace': target.workspaceId,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ title: "It's mine" }),
  });
  expect(response.status).toBe(404);
  await until(async () => {
    const query = { path: `/v1${path}` };
    return (await unwrap(api.GET('/requests', { params: { query } }))).data.length === 1;
  });
  const opened = await signIn();
  const { page } = opened;
  await follow(page, 'Requests');
  await heading(page, 'Requests');
  await page.select('main select', 'errors');
  await untilText(page, 'video_not_found: PATCH /v1/videos/{id}');
  await inspect(opened, 'requests-errors');
  await click(page, 'Show the requests with video_not_found: PATCH /v1/videos/{id}');
  await page.locator('::-p-aria([name="Path begins with"][role="searchbox"])').fill(`/v1${path}`);
  await untilText(page, `PATCH /v1${path}`);
  await inspect(opened, 'requests');
  await follow(page, `PATCH /v1${path}`);
  await heading(page, `PATCH /v1${path}`);
  expect(await textOf(page, 'Body of the request')).toContain('"title": "[text, length 9]"');
  expect(await textOf(page, 'Body of the response')).toContain('"code": "video_not_found"');
  const command = await textOf(page, 'Repeat with curl');
  expect(command).toContain(`curl -X PATCH '${target.baseUrl}${path}'`);
  expect(command).not.toContain(target.apiKey);
  await inspect(opened, 'request');
});

testInBrowser('who changed what, by kind and action, with values, and as a file', async () => {
  const permissions = ['videos:read'] as const;
  const body = { name: 'For the audit log', permissions: [...permissions] };
  const key = await unwrap(createClient(target).POST('/api-keys', { body }));
  const opened = await signIn();
  const { page } = opened;
  await follow(page, 'Audit');
  await heading(page, 'Audit');
  await untilText(page, `Created API key ${key.id}`);
  await untilText(page, 'Signed in: session');
  const [kind, action] = await page.$$('main select');
  await kind?.select('audit_log');
  await action?.select('deleted');
  await untilText(page, 'No events.');
  await kind?.select('api_key');
  await action?.select('created');
  await page.locator('::-p-aria([name="Id"][role="searchbox"])').fill(key.id);
  await page.waitForFunction("document.querySelectorAll('.audit-rows > li').length === 1");
  // A row opens by the keyboard, and shows the values.
  await page.focus('.audit-rows summary');
  await page.keyboard.press('Enter');
  await untilText(page, 'permissions');
  await untilText(page, 'videos:read');
  const link = await page.waitForSelector(`a[href*="audit-events/csv"][href*="resourceId=${key.id}"]`);
  await inspect(opened, 'audit');
  const href = await link?.evaluate((found) => (found as unknown as { href: string }).href);
  const csv = await page.evaluate(`fetch(${JSON.stringify(href)}).then((response) => response.text())`);
  expect(String(csv).split('\r\n')).toEqual([
    expect.stringMatching(/^id,createdAt,actorType/),
    expect.stringContaining(`createApiKey`),
    '',
  ]);
  await page.reload();
  await untilText(page, `Created API key ${key.id}`);
});
