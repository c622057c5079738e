import type { components } from '@framelane/openapi/types';
import { invalidField } from '@framelane/service-kit/problem';

/** The shortest part, in seconds: as of uploaded videos. */
const SHORTEST_SECONDS = 0.1;
const ROUNDING_SECONDS = 1e-6;

/** The part of the file that a request asks for. Throws 400 `validation_failed` if it ends too early. */
export function requestedTrim({
  start = 0,
  end = null,
}: {
  start?: number | undefined;
  end?: number | null | undefined;
}): components['schemas']['Trim'] {
  if (end !== null && end - start < SHORTEST_SECONDS - ROUNDING_SECONDS) {
    const message = `must be at least ${SHORTEST_SECONDS} seconds after start`;
    throw invalidField('body/trim/end', 'out_of_range', message);
  }
  return { start, end };
}
