import type { ReadyVideo } from '@framelane/client';
import { checkStream, type Report, violations } from '@framelane/hls-conformance';
import type { Presentation } from '@framelane/hls-conformance/presentation';
import { storedObjects } from './stored-objects.ts';
import type { Target } from './target.ts';

/** Checks the stream of a ready video against the rules of HLS and of Framelane. Throws with all violations. */
export async function checkRules(
  video: ReadyVideo,
  { objectsDir }: Pick<Target, 'objectsDir'>,
): Promise<{ report: Report; presentation: Presentation }> {
  const stored = objectsDir === null ? undefined : await storedObjects(objectsDir, video.id);
  const facts = {
    variants: video.variants,
    ...(stored && { storedSegments: stored.filter((key) => /\.(ts|m4s)$/.test(key)).map(segmentName) }),
  };
  const { report, presentation } = await checkStream(video.hls, { profile: 'framelane', facts });
  const found = violations(report);
  if (found.length > 0) throw new Error(`${video.id} breaks rules of HLS:\n${found.join('\n')}`);
  return { report, presentation };
}

/** The end of a key, such as `720p/0.ts`. */
function segmentName(key: string): string {
  return key.split('/').slice(-2).join('/');
}
