import { type Finding, passed, warning } from './finding.ts';

/** Times that are shown, signed or compared tolerate this. */
const MAX_CLOCK_SECONDS = 5;

const DAY_SECONDS = 86_400;
const MAX_BACKUP_DAYS = 7;

/** `aheadSeconds` is how far the clock of this machine is ahead of the clock of the database. */
export function clockFinding(aheadSeconds: number): Finding {
  const distance = `${Math.abs(aheadSeconds).toFixed(1)} s ${aheadSeconds < 0 ? 'behind' : 'ahead of'} that of the database`;
  return Math.abs(aheadSeconds) > MAX_CLOCK_SECONDS
    ? warning('Clock', `the clock of this machine is ${distance}`, 'Synchronise both machines by NTP.')
    : passed('Clock', 'agrees with that of the database');
}

/** `last` is undefined if there is no backup. */
export function backupFinding(
  last: { ageSeconds: number; missing: number } | undefined,
  adminCommand: string,
): Finding {
  const advice = `Run: ${adminCommand} backup <directory or s3://…>. See https://github.com/framelane/framelane/blob/main/docs/backup.md`;
  if (last === undefined) return warning('Backup', 'there is none', advice);
  const days = Math.floor(last.ageSeconds / DAY_SECONDS);
  const detail = `the last one is of ${days === 0 ? 'today' : `${days} ${days === 1 ? 'day' : 'days'} ago`}`;
  if (days >= MAX_BACKUP_DAYS) return warning('Backup', detail, advice);
  return last.missing > 0
    ? warning(
        'Backup',
        `${detail}, and lacks ${last.missing} objects`,
        'See https://github.com/framelane/framelane/blob/main/docs/backup.md',
      )
    : passed('Backup', detail);
}
