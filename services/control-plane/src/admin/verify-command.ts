import { terminalText } from '@framelane/service-kit/terminal-text';
import type { Command } from 'commander';
import { type Finding, type Verification, verify } from '../backups/verify.ts';
import { migrateToLatest } from '../db/migrations.ts';
import { parseWholeNumber } from './arguments.ts';
import type { PrintResult } from './command.ts';
import { type AdminHost, withDatabase } from './host.ts';

const GRACE_MINUTES = 60;

/** What a line says about each kind of finding. */
const KINDS: Readonly<Record<Finding['kind'], string>> = {
  missing: 'missing',
  other_size: 'other size',
  orphaned: 'orphaned',
};

/** `verify`. */
export function addVerifyCommand(program: Command, host: AdminHost, print: PrintResult): void {
  program
    .command('verify')
    .description('compare the database with the object store; the exit code is 1 if they differ')
    .option(
      '--grace-minutes <minutes>',
      'do not report younger objects as orphaned',
      parseWholeNumber(0),
      GRACE_MINUTES,
    )
    .option('--json', 'print JSON')
    .action(async (options: { graceMinutes: number; json?: boolean }) => {
      const result = await withDatabase(host, async (db) => {
        await migrateToLatest(db);
        return verify(db, host.objects(), { graceSeconds: options.graceMinutes * 60 });
      });
      print(result, options, describe, ({ findings }) => findings.length > 0);
    });
}

function describe({ findings, matching, inProgress }: Verification): string {
  const count = (kind: Finding['kind']) => findings.filter((each) => each.kind === kind).length;
  const lines = findings.map(
    (finding) => `${KINDS[finding.kind]}: ${terminalText(finding.key)}${sizes(finding)}\n`,
  );
  const summary =
    `${matching} objects are as the database says, ${count('missing')} are missing, ` +
    `${count('other_size')} have another size, ${count('orphaned')} are orphaned. ` +
    `${inProgress} belong to work in progress.\n`;
  return lines.join('') + summary;
}

function sizes(finding: Finding): string {
  return finding.kind === 'other_size' ? ` (${finding.storedBytes} instead of ${finding.bytes} bytes)` : '';
}
