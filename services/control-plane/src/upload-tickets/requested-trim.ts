import { isShorter, MIN_DURATION_SECONDS } from '@framelane/contracts/shortest-duration';
import type { components } from '@framelane/openapi/types';
import { invalidField } from '@framelane/service-kit/problem';

/** The part of the file that a request asks for. Throws 400 `validation_failed` if it ends too early. */
export function requestedTrim({
  start = 0,
  end = null,
}: {
  start?: number | undefined;
  end?: number | null | undefined;
}): components['schemas']['Trim'] {
  if (end !== null && isShorter(end - start)) {
    const message = `must be at least ${MIN_DURATION_SECONDS} seconds after start`;
    throw invalidField('body/trim/end', 'out_of_range', message);
  }
  return { start, end };
}
