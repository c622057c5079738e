import { toNumber } from './frame-rate.ts';
import type { VideoTrack } from './media-source.ts';
import type { Timeline } from './packet-timeline.ts';

/** No television shows more interlaced pictures a second. */
const HIGHEST_INTERLACED_RATE = 30;
/** What rates that are measured may be off. */
const TOLERANCE = 0.005;

/**
 * The timeline of a track with its pictures counted whole. Interlaced H.264 may code the two fields of a picture by themselves
 * (field_pic_flag, ISO/IEC 14496-10 §7.4.3), those of one picture and not of the next, and each is a packet then in most
 * containers; the decoder makes one frame of both.
 */
export function wholePictures(timeline: Timeline, { codec, interlaced, declaredRate }: VideoTrack): Timeline {
  if (codec !== 'h264' || !interlaced) return timeline;
  const rate = pictureRate(timeline.averageRate, declaredRate ? toNumber(declaredRate) : 0);
  const frames = Math.round((timeline.duration - timeline.start) * rate);
  return { ...timeline, frames, averageRate: rate, grid: null };
}

/**
 * Tracks declare the rate of their pictures or that of their fields. Pictures come at what is declared of them, if that many
 * can be in so many packets.
 */
function pictureRate(packetRate: number, declared: number): number {
  const isUsual = (rate: number) => rate <= HIGHEST_INTERLACED_RATE * (1 + TOLERANCE);
  const whole = isUsual(declared) ? declared : declared / 2;
  if (isUsual(whole) && whole <= packetRate && packetRate <= 2 * whole * (1 + TOLERANCE)) return whole;
  return isUsual(packetRate) ? packetRate : packetRate / 2;
}
