import type { Installation } from '@framelane/single-node/installation';
import type { Command } from 'commander';

/** `doctor`: checks whether Framelane can run on this machine, and says what to do if not. */
export function addDoctorCommand(program: Command, installation: Installation): void {
  program
    .command('doctor')
    .description('check this machine, the settings and the data, and say what to do')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nThe exit code is 1 if a check fails. Warnings do not change it.')
    .action(async ({ json }: { json?: boolean }) => {
      const [{ runChecks }, { checklist }] = await Promise.all([
        import('./run-checks.ts'),
        import('./report.ts'),
      ]);
      const findings = await runChecks(installation, process.env);
      const isOk = findings.every(({ status }) => status !== 'failed');
      process.stdout.write(
        json ? `${JSON.stringify({ ok: isOk, findings }, null, 2)}\n` : checklist(findings),
      );
      process.exitCode = isOk ? 0 : 1;
    });
}
