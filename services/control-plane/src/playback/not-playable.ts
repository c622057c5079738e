import { Problem } from '@framelane/service-kit/problem';

/** The answer to whoever asks for what is unknown, deleted or not ready; it does not tell which. */
export function notPlayable(): Problem {
  return new Problem('video_not_found', 'There is no such ready video, or it does not have this file.');
}
