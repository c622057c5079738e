import type { Command, Option } from 'commander';

/** What can follow the words that were typed: `words` are those after the name of the program, the last one is being typed. */
export function candidates(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  const { command, before } = walk(program, words.slice(0, -1));
  const option = before === undefined ? undefined : optionNamed(command, before);
  const found =
    option !== undefined && takesValue(option)
      ? (option.argChoices ?? [])
      : typed.startsWith('-')
        ? namesOfOptions(command)
        : visible(command).map((each) => each.name());
  return found.filter((each) => each.startsWith(typed));
}

/** The command that the complete words name, and the last word if it may be an option. */
function walk(program: Command, words: readonly string[]): { command: Command; before: string | undefined } {
  let command = program;
  for (const word of words) command = visible(command).find((each) => each.name() === word) ?? command;
  const last = words.at(-1);
  return { command, before: last?.startsWith('-') ? last : undefined };
}

function visible(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function namesOfOptions(command: Command): string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? []);
}

function optionNamed(command: Command, name: string): Option | undefined {
  return command.options.find((each) => each.long === name || each.short === name);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}
