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

/** Runs a single node until a stop signal. */
async function main(): Promise<void> {
  const settings = readSingleNodeSettings(process.env);
  const baseUrl = `${settings.publicUrl}/v1`;
  const isPretty = settings.logFormat === 'pretty' || (!settings.logFormat && process.stdout.isTTY);
  const format = isPretty ? terminalFormat(baseUrl) : jsonLines;
  if (!isPretty) logProcessOutput(createLogger({ service: 'single-node', format }));
  const starting = new AbortController();
  signalled.then(() => starting.abort());

  process.stdout.write('Starting Framelane …\n');
  const node = await startSingleNode({
    settings,
    env: process.env,
    loggerFor: (service) => createLogger({ service, format }),
    signal: starting.signal,
  });
  try {
    process.stdout.write(
      banner({
        baseUrl,
        engineUrl: settings.enginePublicUrl,
        workspaceId: node.workspaceId,
        key: await showFirstKey(node, settings),
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
 * Hands the first key to the person who started the node: in the terminal, or in a private file if output may be
 * collected.
 */
async function showFirstKey({ newApiKey }: SingleNode, { dataDir }: SingleNodeSettings): Promise<KeyPlace> {
  if (newApiKey === null) return { kind: process.env.BOOTSTRAP_API_KEY ? 'given' : 'earlier' };
  if (process.stdout.isTTY) return { kind: 'shown', secret: newApiKey };
  await writePrivateFile(dataDir.apiKey, `${newApiKey}\n`);
  return { kind: 'file', path: dataDir.apiKey };
}

/** Prints the error that stopped the node: a SettingsError as a sentence, others with stack and cause. */
function report(error: unknown): void {
  const text = error instanceof SettingsError ? error.message : redactText(inspect(error));
  process.stderr.write(`\nFramelane stopped: ${text}\n`);
}

/** A start that was aborted by a stop signal is not a failure. */
function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

try {
  // Not left to Node: a phase that timed out may keep the event loop busy.
  await main();
  await exitProcess(0);
} catch (error) {
  if (isAbort(error)) await exitProcess(0);
  report(error);
  await exitProcess(1);
}
