import { parseTypedTime, UNREADABLE_TIME } from '../ui/typed-time.ts';

/** Players report the time of a frame with an error of less than this. */
const TOLERANCE_SECONDS = 0.001;

/** When the frame begins that a player shows at a time, in seconds. Without a frame rate, the time itself. */
export function frameStart(seconds: number, frameRate: number | null): number {
  return frameRate === null ? seconds : Math.floor((seconds + TOLERANCE_SECONDS) * frameRate) / frameRate;
}

/** The times of a clip as a user types them, such as `1:02.5`. */
export type TypedTimes = { start: string; end: string };

/** The times in seconds, or what is wrong with them. The API checks the rest. */
export function clipTimes({
  start,
  end,
}: TypedTimes):
  | { times: { start: number; end: number }; errors?: undefined }
  | { times?: undefined; errors: Partial<TypedTimes> } {
  const [from, to] = [parseTypedTime(start), parseTypedTime(end)];
  if (from === undefined || to === undefined)
    return {
      errors: {
        ...(from === undefined && { start: UNREADABLE_TIME }),
        ...(to === undefined && { end: UNREADABLE_TIME }),
      },
    };
  if (to <= from) return { errors: { end: 'The clip must end after it begins.' } };
  return { times: { start: from, end: to } };
}
