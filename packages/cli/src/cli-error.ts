/** An error that the user can correct: the message says how. Exit code 1. */
export class CliError extends Error {
  override name = 'CliError';
}

/** A mistake in the arguments that only a command can see. Exit code 2. */
export class UsageError extends CliError {
  override name = 'UsageError';
}
