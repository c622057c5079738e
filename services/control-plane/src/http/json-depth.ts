import { Problem } from '@framelane/service-kit/problem';
import type { RequestHandler } from 'express';

/** How deep a body may be nested. Nothing described needs more than 3; what nobody asks for is ignored, but read. */
const MAX_DEPTH = 20;

/** Refuses bodies nested so deep that working on them could exhaust the stack. Stands after the parser, whose own does not. */
export const refuseDeepJson: RequestHandler = (req, _res, next) => {
  if (isDeeperThan(MAX_DEPTH, req.body)) {
    throw new Problem(
      'json_too_deep',
      `The JSON body is nested deeper than ${MAX_DEPTH} levels. Send a flatter one.`,
    );
  }
  next();
};

/** Whether objects and arrays stand in each other more than `limit` deep. Goes level by level, so that depth costs no stack. */
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
