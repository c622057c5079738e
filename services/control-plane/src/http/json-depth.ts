import { Problem } from '@framelane/service-kit/problem';

/** The deepest nesting of a body. The contract needs 2 levels. */
const MAX_DEPTH = 20;

/** Refuses a body whose depth could exhaust the stack of recursive code. The parser itself does not recurse. */
export function requireFlatJson(body: unknown): void {
  if (isDeeperThan(MAX_DEPTH, body)) {
    throw new Problem(
      'json_too_deep',
      `The JSON body is nested deeper than ${MAX_DEPTH} levels. Send a flatter one.`,
    );
  }
}

/** Whether objects and arrays are nested deeper than `limit`. It goes level by level, without recursion. */
export function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
