import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { closedPort } from './support/test-endpoint.ts';
import { localWebhooks, WebhookClient } from './support/webhooks.ts';

const GUIDE = join(import.meta.dirname, '../../../docs/webhooks.md');

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane(localWebhooks);
});
afterAll(() => plane.stop());

test('the endpoint in the guide accepts each signed event once, and refuses unsigned requests', async () => {
  const code = /```js\n([\s\S]*?)```/.exec(await readFile(GUIDE, 'utf8'))?.[1] ?? '';
  const webhooks = new WebhookClient(plane);
  const port = await closedPort();
  const { id, secret } = await webhooks.create({ url: `http://127.0.0.1:${port}/` });
  const endpoint = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  endpoint.stdout.on('data', (chunk) => {
    output += chunk;
  });
  try {
    // Unsigned, and so refused; until the endpoint listens, the connection fails.
    const refused = await until(() =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(() => undefined),
    );
    expect(refused.status).toBe(401);

    const deliveryId = await webhooks.test(id);
    expect(await webhooks.settled(id)).toMatchObject({ status: 'succeeded', responseStatus: 204 });
    await webhooks.call('post', `/${id}/deliveries/${deliveryId}/redeliver`);
    await until(async () => (await webhooks.settled(id)).attempts === 2);
    expect(output.match(/webhook\.test/g)).toHaveLength(1);
    expect(output).toContain(id);
  } finally {
    endpoint.kill();
    await once(endpoint, 'exit');
  }
});
