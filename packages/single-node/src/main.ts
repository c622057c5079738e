import { inspect } from 'node:util';
import { createLogger, jsonLines, logProcessOutput } from '@framelane/service-kit/logger';
import { redactText } from '@framelane/service-kit/redact';
import { SettingsError } from '@framelane/service-kit/settings';
import { stopSignal } from '@framelane/service-kit/shutdown';
import { exitProcess } from '@framelane/service-kit/thread-pool';
import { banner, type KeyPlace } from './banner.ts';
import { writePrivateFile } from './private-file.ts';
import { readSingleNodeSettings, type SingleNodeSettings } from './settings.ts';
import { type SingleNode, startSingleNode } from './single-node.ts';
import { terminalFormat } from './terminal-format.ts';

const signalled = stopSignal();

/** Runs a single node until it is told to stop. */
async function main(): Promise<void> {
  const settings = readSingleNodeSettings(process.env);
  const baseUrl = `${settings.publicUrl}/v1`;
  const forPeople = settings.logFormat === 'pretty' || (!settings.logFormat && process.stdout.isTTY);
  const format = forPeople ? terminalFormat(baseUrl) : jsonLines;
  if (!forPeople) logProcessOutput(createLogger({ service: 'single-node', format }));
  const unwanted = new AbortController();
  signalled.then(() => unwanted.abort());

  process.stdout.write('Starting Framelane …\n');
  const node = await startSingleNode({
    settings,
    env: process.env,
    loggerFor: (service) => createLogger({ service, format }),
    signal: unwanted.signal,
  });
  try {
    process.stdout.write(
      banner({
        baseUrl,
        engineUrl: settings.enginePublicUrl,
        workspaceId: node.workspaceId,
        key: await handOver(node, settings),
        dataDir: settings.dataDir.root,
        sampleVideo: settings.dataDir.sampleVideo,
      }),
    );
    await Promise.race([signalled, node.broken]);
  } finally {
    await node.stop();
  }
}

/**
 * Brings the first key to the person who started the node, and to nobody else: a terminal shows it once, whatever
 * collects output elsewhere would keep it.
 */
async function handOver({ newApiKey }: SingleNode, { dataDir }: SingleNodeSettings): Promise<KeyPlace> {
  if (newApiKey === null) return { kind: process.env.BOOTSTRAP_API_KEY ? 'given' : 'earlier' };
  if (process.stdout.isTTY) return { kind: 'shown', secret: newApiKey };
  await writePrivateFile(dataDir.apiKey, `${newApiKey}\n`);
  return { kind: 'file', path: dataDir.apiKey };
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
