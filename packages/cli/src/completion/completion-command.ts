import { Argument, type Command } from 'commander';
import type { Host } from '../host.ts';
import { candidates } from './candidates.ts';
import { SHELL_SCRIPTS, SHELLS, type Shell } from './shell-scripts.ts';

/** `completion`, and the hidden `complete` that its scripts call. */
export function addCompletionCommands(program: Command, host: Host): void {
  program
    .command('completion')
    .description('print the script that completes commands in a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      `
Add to the configuration of your shell:
  bash  eval "$(framelane completion bash)"
  zsh   eval "$(framelane completion zsh)"
  fish  framelane completion fish | source`,
    )
    .action((shell: Shell) => host.write(SHELL_SCRIPTS[shell]));
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[]) => {
      for (const each of candidates(program, words)) host.write(`${each}\n`);
    });
}
