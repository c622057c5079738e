/** How deep errors of `fetch` and of sockets nest. */
const DEEPEST = 5;

/** The code of an error, such as `ECONNREFUSED`. `fetch` and Node's sockets nest errors: the innermost says why. */
export function errorCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > DEEPEST) return undefined;
  const { cause, errors, code } = error as { cause?: unknown; errors?: unknown[]; code?: unknown };
  const inner = errorCode(cause, depth + 1) ?? errorCode(errors?.[0], depth + 1);
  return inner ?? (typeof code === 'string' ? code : undefined);
}
