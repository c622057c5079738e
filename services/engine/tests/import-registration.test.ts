import { newId } from '@framelane/contracts/ids';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RemoteServer } from './support/remote-server.ts';
import { ONLY_RECEIVES, startTestEngine, type TestEngine } from './support/test-engine.ts';

let engine: TestEngine;
let server: RemoteServer;

beforeAll(async () => {
  server = await RemoteServer.start();
  engine = await startTestEngine({
    env: { ...ONLY_RECEIVES, IMPORT_ALLOW_CIDRS: '127.0.0.0/8' },
    imports: { pollSeconds: 0.02 },
  });
});
afterAll(async () => {
  await engine.stop();
  await server.stop();
});

test('an import is abandoned, not failed, if its video no longer accepts the file', async () => {
  const url = server.serve((res) => void res.end('a file'));
  // The ticket is leased to another transfer, so the registration is refused.
  engine.controlPlane.import(url, { transferId: newId('xfr') });
  const ends = await until(async () => {
    const text = await (await fetch(`${engine.internalUrl}/metrics`)).text();
    const ended = [...PrometheusText.parse(text).series].filter(
      ([name, value]) => name.startsWith('framelane_engine_imports_total{') && value > 0,
    );
    return ended.length > 0 ? ended : undefined;
  });
  expect(ends).toEqual([['framelane_engine_imports_total{outcome="abandoned",code=""}', 1]]);
  expect(engine.controlPlane.endedTries).toEqual([]);
});
