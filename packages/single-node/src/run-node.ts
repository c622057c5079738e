import { inspect } from 'node:util';
import { createLogger, jsonLines, logProcessOutput } from '@framelane/service-kit/logger';
import { redactText } from '@framelane/service-kit/redact';
import { SettingsError } from '@framelane/service-kit/settings';
import { stopSignal } from '@framelane/service-kit/shutdown';
import { exitProcess } from '@framelane/service-kit/thread-pool';
import { adminCommand } from './admin-command.ts';
import { type BannerFacts, banner, type KeyPlace } from './banner.ts';
import { helpOf, wantsHelp } from './cli/help.ts';
import type { Installation } from './installation.ts';
import { writePrivateFile } from './private-file.ts';
import { readSingleNodeSettings } from './settings.ts';
import { SingleNode } from './single-node.ts';
import { terminalFormat } from './terminal-format.ts';

/** Runs a single node as the program of this process, until a stop signal or a failure. `args` are those of its command line. */
export async function runNode(args: readonly string[], installation: Installation): Promise<never> {
  const signalled = stopSignal();
  // The process does not wait for an empty event loop: a phase that timed out may keep it busy.
  return exitProcess(await run(args, installation, signalled).catch(exitCodeAfter));
}

/** Resolves with the exit code. */
async function run(
  args: readonly string[],
  installation: Installation,
  signalled: Promise<unknown>,
): Promise<number> {
  if (wantsHelp(args, installation)) {
    process.stdout.write(helpOf(installation));
    return 0;
  }
  const settings = readSingleNodeSettings(process.env, installation);
  const baseUrl = `${settings.publicUrl}/v1`;
  const isPretty = settings.logFormat === 'pretty' || (!settings.logFormat && process.stdout.isTTY);
  const format = isPretty ? terminalFormat(baseUrl) : jsonLines;
  if (!isPretty) logProcessOutput(createLogger({ service: 'single-node', format }));
  // Only the log goes to standard output if it is JSON.
  const forPeople = isPretty ? process.stdout : process.stderr;
  const starting = new AbortController();
  signalled.then(() => starting.abort());

  forPeople.write('Starting Framelane …\n');
  const node = new SingleNode({
    installation,
    settings,
    env: process.env,
    loggerFor: (service) => createLogger({ service, format }),
    signal: starting.signal,
  });
  try {
    const { workspaceId, newApiKey, consoleLink, broken } = await node.start();
    const { dataDir } = settings;
    forPeople.write(
      banner({
        baseUrl,
        engineUrl: settings.enginePublicUrl,
        workspaceId,
        key: await placeFirstKey(newApiKey, { file: dataDir.apiKey, isTerminal: forPeople.isTTY }),
        consoleLink: await placeLink(consoleLink, { file: dataDir.consoleLink, isTerminal: forPeople.isTTY }),
        dataDir: dataDir.root,
        sampleVideo: dataDir.sampleVideo,
        adminCommand: adminCommand(installation, process.env),
        hasRecognizer: Boolean(process.env.RECOGNIZER_URL || process.env.RECOGNIZER_PROGRAM),
      }),
    );
    await Promise.race([signalled, broken]);
    return 0;
  } catch (error) {
    return exitCodeAfter(error);
  } finally {
    await node.stop();
  }
}

/** Decides where the person who started the node finds the first key. If the output may be collected, writes the key to a private file. */
async function placeFirstKey(
  newApiKey: string | null,
  { file, isTerminal }: { file: string; isTerminal: boolean },
): Promise<KeyPlace> {
  if (newApiKey === null) return { kind: process.env.BOOTSTRAP_API_KEY ? 'given' : 'earlier' };
  if (isTerminal) return { kind: 'shown', secret: newApiKey };
  await writePrivateFile(file, `${newApiKey}\n`);
  return { kind: 'file', path: file };
}

/**
 * Decides where the person who started the node finds the sign-in link. If the output may be collected, writes the link to a private file.
 */
async function placeLink(
  url: string,
  { file, isTerminal }: { file: string; isTerminal: boolean },
): Promise<BannerFacts['consoleLink']> {
  if (isTerminal) return { url };
  await writePrivateFile(file, `${url}\n`);
  return { file };
}

/**
 * The exit code after an error, which it prints: a SettingsError as a sentence, others with stack and cause. A start that a stop
 * signal aborted is not a failure.
 */
function exitCodeAfter(error: unknown): number {
  if (error instanceof DOMException && error.name === 'AbortError') return 0;
  const text = error instanceof SettingsError ? error.message : redactText(inspect(error));
  process.stderr.write(`\nFramelane failed: ${text}\n`);
  return 1;
}
