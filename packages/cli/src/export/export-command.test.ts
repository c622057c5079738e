import { Readable } from 'node:stream';
import { FakeService } from '@framelane/test-kit/fake-service';
import { expect, test } from '@jest/globals';
import { EXIT } from '../output.ts';
import { runCli } from '../program.ts';

test('a key that may not write is refused before the work', async () => {
  await using framelane = await FakeService.start({
    'GET /v1/auth/whoami': { body: { workspace: { id: 'ws_1' }, permissions: ['videos:read'] } },
  });
  const errors: string[] = [];
  const host = {
    env: {
      HOME: '/nonexistent',
      FRAMELANE_BASE_URL: framelane.url,
      FRAMELANE_API_KEY: 'svc_live_x',
      FRAMELANE_WORKSPACE_ID: 'ws_1',
    },
    stdin: Readable.from([]),
    write: () => {},
    writeError: (text: string) => void errors.push(text),
    isTerminal: false,
    columns: () => 80,
    signal: AbortSignal.timeout(60_000),
  };
  expect(await runCli(['export', '/nonexistent', '--renditions', 'none'], host)).toBe(EXIT.failure);
  expect(errors.join('')).toContain('Use one that has it, or add --no-sources --renditions none.');
});
