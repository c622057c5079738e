import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

const START_TRACING = new URL('start-tracing.ts', import.meta.url).href;

/** Starts the traces of a service in a process of its own. Returns the packages of OpenTelemetry that it has loaded. */
function loadedBy(endpoint: string): string[] {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ resolve(specifier, context, next) {
      if (specifier.startsWith('@opentelemetry/')) loaded.add(specifier);
      return next(specifier, context);
    } });
    const { startTracing } = await import('${START_TRACING}');
    const tracing = await startTracing('test', { env: { OTEL_EXPORTER_OTLP_ENDPOINT: '${endpoint}' }, toStop: [] });
    console.log(JSON.stringify({ isStarted: tracing !== undefined, loaded: [...loaded] }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  if (stdout === '') throw new Error(stderr);
  const { isStarted, loaded } = JSON.parse(stdout);
  expect(isStarted).toBe(endpoint !== '');
  return loaded;
}

test('OpenTelemetry is loaded only if traces are exported', () => {
  expect(loadedBy('')).toEqual([]);
  expect(loadedBy('http://127.0.0.1:1')).toContain('@opentelemetry/sdk-trace');
});
