import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePorts } from '@framelane/test-kit/free-ports';
import { until } from '@framelane/test-kit/until';
import { expect, test } from '@jest/globals';

const MAIN = join(import.meta.dirname, '../src/main.ts');

test('an engine that starts while other systems are unavailable names their settings, and runs', async () => {
  const [port, enginePort, internalPort] = await freePorts(3);
  const nobody = `127.0.0.1:${port}`;
  const engine = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ENGINE_ROLES: 'upload',
      ENGINE_PORT: String(enginePort),
      ENGINE_INTERNAL_PORT: String(internalPort),
      CONTROL_PLANE_INTERNAL_URL: `http://${nobody}`,
      PUBLIC_URL: 'https://video.example.com',
      AMQP_URL: `amqp://engine:hush@${nobody}`,
      S3_ENDPOINT: `http://${nobody}`,
      S3_BUCKET: 'videos',
      S3_ACCESS_KEY_ID: 'engine',
      S3_SECRET_ACCESS_KEY: 'hush',
      SERVICE_SECRET: 'hush'.repeat(10),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  engine.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  try {
    const logged = (...words: string[]) =>
      until(() => output.split('\n').some((line) => words.every((word) => line.includes(word))), {
        what: words.join(' '),
        details: () => output,
      });
    await logged('engine.started');
    for (const setting of ['CONTROL_PLANE_INTERNAL_URL', 'AMQP_URL', 'S3_ENDPOINT']) {
      await logged('start.waiting', `"setting":"${setting}"`, 'ECONNREFUSED', '"waitedSeconds":');
    }
    const alive = await fetch(`http://127.0.0.1:${internalPort}/healthz`);
    expect(alive.status).toBe(200);
    const ready = await fetch(`http://127.0.0.1:${internalPort}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'unavailable', missing: ['controlPlane', 'objectStore', 'messageBus'] },
    ]);
    expect(output).not.toContain('hush');
    engine.kill('SIGTERM');
    expect(await once(engine, 'exit')).toEqual([0, null]);
  } finally {
    engine.kill('SIGKILL');
  }
});
