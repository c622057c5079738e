import { stat } from 'node:fs/promises';
import { arch, release, totalmem, type } from 'node:os';
import { dirname } from 'node:path';
import { SETTING_NAMES as CONTROL_PLANE } from '@framelane/control-plane/config';
import { SETTING_NAMES as ENGINE } from '@framelane/engine/config';
import { SETTING_NAMES as CONNECTIONS } from '@framelane/service-kit/connection-settings';
import { reasonOf } from '@framelane/service-kit/reason';
import { redactText } from '@framelane/service-kit/redact';
import { SettingsError } from '@framelane/service-kit/settings';
import { SETTING_NAMES as TRACES } from '@framelane/service-kit/trace-settings';
import { VERSION } from '@framelane/service-kit/version';
import { adminCommand } from '@framelane/single-node/admin-command';
import { isNodeRunning } from '@framelane/single-node/data-dir';
import type { Installation } from '@framelane/single-node/installation';
import { newSecrets } from '@framelane/single-node/secrets';
import { controlPlaneConfigOf, engineConfigOf } from '@framelane/single-node/service-configs';
import { readSingleNodeSettings, SETTING_NAMES as SINGLE_NODE } from '@framelane/single-node/settings';
import { missingPrograms } from '../machine/missing-programs.js';
import { addressFindings } from './address-findings.ts';
import { checkDataDir } from './data-dir-check.ts';
import { checkDatabase } from './database-check.ts';
import { type Finding, failed } from './finding.ts';
import { checkListeners } from './listener-check.ts';
import { memoryFinding, programsFinding, systemFinding } from './machine-findings.ts';
import { checkMedia } from './media-check.ts';
import { checkQueue } from './queue-check.ts';
import { checkStorage } from './storage-check.ts';
import { unknownSettings } from './unknown-settings.ts';

/** Read by the admin command, and by tools that run beside Framelane. */
const OTHER_SETTINGS = [
  ...['BACKUP_PASSPHRASE', 'BACKUP_S3_ENDPOINT', 'BACKUP_S3_REGION'],
  ...['BACKUP_S3_ACCESS_KEY_ID', 'BACKUP_S3_SECRET_ACCESS_KEY'],
];
const SETTING_NAMES = [
  ...CONTROL_PLANE,
  ...ENGINE,
  ...CONNECTIONS,
  ...TRACES,
  ...SINGLE_NODE,
  ...OTHER_SETTINGS,
];

/** Runs all checks of a single node. Never rejects: what a check throws is a finding. */
export async function runChecks(installation: Installation, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const machine = { node: process.versions.node, version: VERSION, system: `${type()} ${release()}` };
  const missing = missingPrograms({ forTests: false });
  const findings = [
    systemFinding({ ...machine, architecture: arch() }),
    memoryFinding(Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)),
    programsFinding(missing),
  ];
  const configured = configurationOf(installation, env);
  if ('error' in configured) return [...findings, failed('Settings', configured.error)];
  const { settings, engine } = configured;
  const existing = await nearestExisting(settings.dataDir.root);
  const isRunning = existing === settings.dataDir.root && (await isNodeRunning(existing));
  const { amqpUrl } = settings;
  return [
    ...findings,
    ...unknownSettings(env, SETTING_NAMES),
    ...addressFindings(settings),
    ...(await attempt('Data', async () => [await checkDataDir(settings, existing)])),
    ...(await attempt(isRunning ? 'Service' : 'Ports', async () => [
      await checkListeners(settings, isRunning),
    ])),
    ...(missing.programs.length === 0
      ? [
          ...(await attempt('ffmpeg', () => checkMedia(engine))),
          ...(await attempt(
            'Database',
            () => checkDatabase(settings, adminCommand(installation, env)),
            'DATABASE_URL',
          )),
        ]
      : []),
    ...(await attempt(
      'Storage',
      () => checkStorage(settings, existing),
      'S3_ENDPOINT, S3_BUCKET and the keys',
    )),
    ...(amqpUrl === undefined ? [] : await attempt('Queue', () => checkQueue(amqpUrl), 'AMQP_URL')),
  ];
}

/** Reads all settings as the start does. The secrets do not matter here. */
function configurationOf(installation: Installation, env: NodeJS.ProcessEnv) {
  try {
    const settings = readSingleNodeSettings(env, installation);
    const secrets = newSecrets();
    controlPlaneConfigOf(settings, env, secrets, settings.databaseUrl ?? 'postgres://localhost');
    return { settings, engine: engineConfigOf(settings, env, secrets, settings.internalPort) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** `setting` names what to correct if a check throws an error of another system. */
async function attempt(title: string, check: () => Promise<Finding[]>, setting?: string): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    const isOfAnotherSystem = setting !== undefined && !(error instanceof SettingsError);
    return [
      failed(
        title,
        messageOf(error),
        isOfAnotherSystem ? `Check ${setting}, and that the server works.` : undefined,
      ),
    ];
  }
}

function messageOf(error: unknown): string {
  return error instanceof SettingsError ? error.message : redactText(reasonOf(error));
}

/** The directory, or the one in which it will be created. */
async function nearestExisting(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  return exists ? path : nearestExisting(dirname(path));
}
