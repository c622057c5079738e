import { createLogger, jsonLines } from '@framelane/service-kit/logger';
import { SettingsError } from '@framelane/service-kit/settings';
import { stopSignal } from '@framelane/service-kit/shutdown';
import { banner } from './banner.ts';
import { readSingleNodeSettings } from './settings.ts';
import { startSingleNode } from './single-node.ts';
import { terminalFormat } from './terminal-format.ts';

const signalled = stopSignal();

/** Runs a single node until it is told to stop. Resolves with the exit code. */
async function main(): Promise<number> {
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
  return 0;
}

/** What stopped it, for the one who started it: their own mistakes in words, ours with a trace. */
function report(error: unknown): void {
  const text = error instanceof SettingsError ? error.message : error instanceof Error ? error.stack : error;
  process.stderr.write(`\nFramelane stopped: ${text}\n`);
}

try {
  process.exitCode = await main();
} catch (error) {
  const stoppedWhileStarting = error instanceof DOMException && error.name === 'AbortError';
  if (!stoppedWhileStarting) report(error);
  process.exitCode = stoppedWhileStarting ? 0 : 1;
}
