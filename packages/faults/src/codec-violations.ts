import { PLAIN_CODEC, partsOf, VIDEO_RENDITIONS } from '@framelane/contracts/renditions';
import type { Snapshot } from './snapshot.ts';

type Codecs = Pick<Snapshot, 'videos' | 'events'>;

/** The violations of the guarantees about codecs beside H.264, for a cluster at rest. */
export function wrongCodecs(state: Codecs): string[] {
  return [...wrongStates(state), ...wrongRenditions(state), ...wrongEnds(state)];
}

/** 1: a codec that has failed says why. */
function wrongStates({ videos }: Codecs): string[] {
  return videos.flatMap(({ id, codecs }) =>
    codecs
      .filter(({ status, error }) => (status === 'failed') !== (error !== null))
      .map(({ codec, status, error }) => `1: ${codec} of ${id} is ${status} with the error ${error?.code}`),
  );
}

/** 2: a ready video has the rungs of H.264 in each codec that is ready, in as many segments, and none in one that has failed. */
function wrongRenditions({ videos }: Codecs): string[] {
  const ready = videos.filter(({ status, deleted }) => status === 'ready' && !deleted);
  return ready.flatMap(({ id, codecs, renditions, artifacts }) => {
    const names = new Set(renditions.map(({ name }) => name));
    const ofNone = artifacts.filter(({ rendition }) => rendition !== null && !names.has(rendition));
    const plain = ladderIn(PLAIN_CODEC, renditions);
    const wrong = codecs.flatMap(({ codec, status }) => {
      const expected = status === 'ready' ? plain : '';
      const found = ladderIn(codec, renditions);
      return found === expected ? [] : [`2: ${id} has in ${codec} "${found}", not "${expected}"`];
    });
    return [...ofNone.map(({ prefix }) => `2: ${prefix} belongs to no rendition`), ...wrong];
  });
}

/** The rungs in a codec with the number of their segments, such as `360p: 2, 480p: 2`. */
function ladderIn(codec: string, renditions: Codecs['videos'][number]['renditions']): string {
  return VIDEO_RENDITIONS.filter((name) => partsOf(name).codec === codec)
    .flatMap((name) =>
      renditions
        .filter((rendition) => rendition.name === name)
        .map(({ segments }) => `${partsOf(name).rung}: ${segments}`),
    )
    .join(', ');
}

/** 5: each end of a codec has exactly one event. It fails each time with its video, and ends once when its video is ready. */
function wrongEnds({ videos, events }: Codecs): string[] {
  return videos.flatMap(({ id, status, deleted, codecs }) => {
    const ofVideo = events.filter(({ videoId }) => videoId === id);
    // The row of a deleted video no longer has its codecs.
    if (deleted) return repeatedEnds(id, ofVideo);
    const failures = ofVideo.filter(({ type }) => type === 'video.failed').map(() => 'video.codec.failed');
    return codecs.flatMap((each) => {
      const expected = [...failures, ...(status === 'ready' ? [`video.codec.${each.status}`] : [])];
      const found = ofVideo.filter(({ codec }) => codec === each.codec).map(({ type }) => type);
      const [one, other] = [found, expected].map((types) => types.toSorted().join(', '));
      return one === other ? [] : [`5: ${each.codec} of ${id} has the events "${one}", not "${other}"`];
    });
  });
}

/** The codecs of a video that became ready more than once. */
function repeatedEnds(id: string, ofVideo: Codecs['events']): string[] {
  const ready = ofVideo.filter(({ type }) => type === 'video.codec.ready').map(({ codec }) => codec);
  return ready
    .filter((codec, at) => ready.indexOf(codec) !== at)
    .map((codec) => `5: ${codec} of ${id} has more than one video.codec.ready event`);
}
