import type { Schemas } from '@framelane/client';
import { formatBytes } from '../ui/format.ts';

type System = Schemas['System'];
type Engine = Schemas['SystemEngine'];

/** A state in words, and its colour. */
export type State = { words: string; colour: 'teal' | 'yellow' | 'red' | 'gray' };

/** A part that could not be read. */
export const UNKNOWN: State = { words: 'Unknown', colour: 'gray' };

export function healthState({ status, latencyMs }: Schemas['SystemHealth']): State {
  switch (status) {
    case 'healthy':
      return { words: `Healthy, ${latencyMs} ms`, colour: 'teal' };
    case 'slow':
      return { words: `Slow, ${latencyMs} ms`, colour: 'yellow' };
    case 'unavailable':
      return { words: 'Unavailable', colour: 'red' };
  }
}

/** The name of each kind of system. */
export const KINDS: Record<Schemas['SystemHealth']['kind'], string> = {
  postgresql: 'PostgreSQL',
  rabbitmq: 'RabbitMQ',
  in_process: 'Embedded in this node (no RabbitMQ)',
  s3: 'S3',
  files: 'Files on the disk of this node',
};

/** A backup of this age is too old, as in the alerts of docs/monitoring.md. */
const OLD_BACKUP_SECONDS = 2 * 86_400;

export function backupState(last: Schemas['SystemBackup'] | null): State {
  if (last === null) return { words: 'None yet', colour: 'yellow' };
  if (last.ageSeconds >= OLD_BACKUP_SECONDS) return { words: 'Too old', colour: 'red' };
  return last.missing > 0 ? { words: 'Incomplete', colour: 'red' } : { words: 'Complete', colour: 'teal' };
}

/** What the last backup has, or that one should be made. */
export function backupWords(last: Schemas['SystemBackup'] | null): string[] {
  if (last === null) return ['Make one each day with the admin command.'];
  const { ageSeconds, objects, bytes } = last;
  return [`The data of ${timeWords(ageSeconds)} ago`, `${counted(objects, 'object')}, ${formatBytes(bytes)}`];
}

export function engineState({ status }: Pick<Engine, 'status'>): State {
  switch (status) {
    case 'working':
      return { words: 'Working', colour: 'teal' };
    case 'stopping':
      return { words: 'Stopping', colour: 'yellow' };
    case 'lost':
      return { words: 'Lost', colour: 'red' };
  }
}

const ROLES: Record<Engine['roles'][number], string> = { upload: 'uploads', transcode: 'transcodes' };

/** The roles of an engine in words, e.g. `Uploads and transcodes`. */
export function roleWords({ roles }: Pick<Engine, 'roles'>): string {
  const words = roles.map((role) => ROLES[role]).join(' and ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const HARDWARE: Record<NonNullable<Engine['hardware']>['kind'], string> = {
  vaapi: 'VAAPI',
  qsv: 'Quick Sync Video',
  nvenc: 'NVENC',
};

/** What encodes video on an engine with a device. */
export function hardwareWords({ hardware }: Pick<Engine, 'hardware'>): string[] {
  if (hardware === null) return [];
  const { kind, refusal } = hardware;
  if (refusal === null) return [`Video is encoded by ${HARDWARE[kind]}.`];
  return [`Video is encoded by software, because the device with ${HARDWARE[kind]} is refused: ${refusal}`];
}

/** The work that an engine has in progress. */
export function loadWords({ roles, slots, slotsBusy, tasks, uploads, imports }: Engine): string[] {
  return [
    ...(roles.includes('transcode')
      ? [`${slotsBusy} of ${slots} slots busy`, `${counted(tasks, 'task')} of long videos`]
      : []),
    ...(roles.includes('upload') ? [counted(uploads, 'upload'), counted(imports, 'import')] : []),
  ];
}

/** The problems of the installation, and what to do. */
export function warningsOf({ engines, versions, deadLetters, backups }: System): string[] {
  const warnings: string[] = [];
  const working = (engines ?? []).filter(({ status }) => status === 'working');
  const has = (role: Engine['roles'][number]) => working.some(({ roles }) => roles.includes(role));
  if (engines !== null && !has('upload')) {
    warnings.push('No engine accepts uploads. Start one with the role upload.');
  }
  if (engines !== null && !has('transcode')) {
    warnings.push('No engine transcodes, so videos wait. Start one with the role transcode.');
  }
  if (working.some(({ version }) => version !== versions.framelane)) {
    warnings.push(
      `Not all engines have the version ${versions.framelane} of the control plane. Complete the upgrade.`,
    );
  }
  if (deadLetters !== null && deadLetters.commands + deadLetters.events > 0) {
    warnings.push(
      'Some messages could not be handled and were dead-lettered. Search the logs for message.dead_lettered or message.unreadable.',
    );
  }
  const last = backups?.last ?? null;
  if (last !== null && last.ageSeconds >= OLD_BACKUP_SECONDS) {
    warnings.push('The last backup is older than two days. Make one, and read what the command prints.');
  }
  if (last !== null && last.missing > 0) {
    warnings.push(
      `The last backup lacks ${counted(last.missing, 'object')}. The admin command verify names them.`,
    );
  }
  return warnings;
}

/** The number of waiting or running items, and how long the oldest has been there. */
export function backlogWords({ count, oldestSeconds }: Schemas['SystemBacklog']): string {
  return count === 0 ? 'none' : `${count}, the oldest for ${timeWords(oldestSeconds)}`;
}

/** A time span in its largest unit, e.g. `3 min`. */
export function timeWords(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** `count` things; the noun has a plural with s. */
function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
