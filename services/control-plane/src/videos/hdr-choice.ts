import type { HdrChoice } from '@framelane/contracts/hdr';
import { ALTERNATIVE_CODECS, type AlternativeCodec } from '@framelane/contracts/renditions';
import { invalidField } from '@framelane/service-kit/problem';

/** A new video. The codecs are those beside H.264. */
type NewVideo = {
  hdr?: HdrChoice | undefined;
  codecs: readonly AlternativeCodec[];
  audioOnly?: boolean | undefined;
  watermark?: object | undefined;
};

/**
 * What becomes of high dynamic range in a new video: what its request says, else the default, unless the video cannot keep it. Throws 400
 * `validation_failed` if the request wants to keep it, and the video cannot.
 */
export function hdrOf(video: NewVideo, defaultHdr: HdrChoice): HdrChoice {
  const obstacle = obstacleTo(video);
  if (obstacle === null) return video.hdr ?? defaultHdr;
  if (video.hdr === 'keep') throw invalidField('body/hdr', 'hdr', `must be sdr or absent ${obstacle}`);
  return 'sdr';
}

/** Why a video cannot keep high dynamic range; null if it can. */
function obstacleTo({ codecs, audioOnly, watermark }: NewVideo): string | null {
  if (audioOnly) return 'with audioOnly: sound has no picture';
  if (watermark) return 'with a watermark: its image has standard range';
  if (codecs.length > 0) return null;
  return `without further codecs: name ${ALTERNATIVE_CODECS.join(' or ')} in codecs to keep high dynamic range`;
}
