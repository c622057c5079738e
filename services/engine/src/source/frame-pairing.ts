import { RATE_TOLERANCE, toNumber } from './frame-rate.ts';
import type { VideoTrack } from './media-source.ts';
import type { Timeline } from './packet-timeline.ts';

/** The highest frame rate of interlaced video in television. */
const MAX_INTERLACED_RATE = 30;

/**
 * The timeline of a track, counted in frames instead of fields. Interlaced H.264 may code the two fields of a frame
 * separately (field_pic_flag, ISO/IEC 14496-10 §7.4.3), for some frames and not for others. Most containers then store
 * each field as a packet. The decoder pairs both fields into one frame.
 */
export function pairFields(timeline: Timeline, { codec, interlaced, declaredRate }: VideoTrack): Timeline {
  if (codec !== 'h264' || !interlaced) return timeline;
  const rate = pairedRate(timeline.averageRate, declaredRate ? toNumber(declaredRate) : 0);
  const frames = Math.round((timeline.duration - timeline.start) * rate);
  return { ...timeline, frames, averageRate: rate, grid: null, losses: undefined };
}

/**
 * Some tracks declare their frame rate, others their field rate. The declared frame rate is used if the number of packets
 * allows it: one or two packets per frame.
 */
function pairedRate(packetRate: number, declared: number): number {
  const isUsual = (rate: number) => rate <= MAX_INTERLACED_RATE * (1 + RATE_TOLERANCE);
  const declaredFrames = isUsual(declared) ? declared : declared / 2;
  const isPossible = declaredFrames <= packetRate && packetRate <= 2 * declaredFrames * (1 + RATE_TOLERANCE);
  if (isUsual(declaredFrames) && isPossible) return declaredFrames;
  return isUsual(packetRate) ? packetRate : packetRate / 2;
}
