import { inspect } from 'node:util';
import { createLogger, jsonLines } from '@framelane/service-kit/logger';
import { redactText } from '@framelane/service-kit/redact';
import { SettingsError } from '@framelane/service-kit/settings';
import { stopSignal } from '@framelane/service-kit/shutdown';
import { exitProcess } from '@framelane/service-kit/thread-pool';
import { banner } from './banner.ts';
import { readSingleNodeSettings } from './settings.ts';
import { startSingleNode } from './single-node.ts';
import { terminalFormat } from './terminal-format.ts';

const signalled = stopSignal();

/** Runs a single node until it is told to stop. */
async function main(): Promise<void> {
  const settings = readSingleNodeSettings(process.env);
  const baseUrl = `${settings.publicUrl}/v1`;
  const forPeople = settings.logFormat === 'pretty' || (!settings.logFormat && process.stdout.isTTY);
  const format = forPeople ? terminalFormat(baseUrl) : jsonLines;
  const unwanted = new AbortController();
  signalled.then(() => unwanted.abort());

  process.stdout.write('Starting Framelane …\n');
  const node = await startSingleNode({
    settings,
    env: process.env,
    loggerFor: (service) => createLogger({ service, format }),
    signal: unwanted.signal,
  });
  const { workspaceId, apiKey } = node;
  const { root, sampleVideo } = settings.dataDir;
  process.stdout.write(
    banner({
      baseUrl,
      engineUrl: settings.enginePublicUrl,
      workspaceId,
      apiKey,
      dataDir: root,
      sampleVideo,
    }),
  );
  try {
    await Promise.race([signalled, node.broken]);
  } finally {
    await node.stop();
  }
}

/** What stopped it, for the one who started it: their own mistakes in words, all else with trace and cause. */
function report(error: unknown): void {
  const text = error instanceof SettingsError ? error.message : redactText(inspect(error));
  process.stderr.write(`\nFramelane stopped: ${text}\n`);
}

/** A start that was called off is no failure. */
function isCalledOff(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

try {
  // Exits also when something that would not stop in time keeps the process busy.
  await main();
  await exitProcess(0);
} catch (error) {
  if (isCalledOff(error)) await exitProcess(0);
  report(error);
  await exitProcess(1);
}
