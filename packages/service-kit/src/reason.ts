/**
 * The reason of an error in one line: the message of its innermost cause. Some errors of Node have no message but a code, or contain
 * one error for each address of a host.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
