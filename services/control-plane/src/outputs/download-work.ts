import type { DownloadName, DownloadWork } from '@framelane/contracts/outputs/download';
import type { TrackRendition } from '@framelane/contracts/renditions';

/** The stored renditions of a video: those in the codec that every device plays, lowest first; audio with the default one first. */
export type TrackNames = { video: readonly TrackRendition[]; audio: readonly TrackRendition[] };

/** The work that makes a download of a video with these renditions; undefined if it has none for this file. `inside` is what the file says. */
export function downloadWork(
  name: DownloadName,
  { video, audio }: TrackNames,
  inside: Pick<DownloadWork, 'title' | 'chapters'>,
): DownloadWork | undefined {
  const wanted = name === 'highest' ? video.at(-1) : video.find((each) => each === name);
  const renditions = [...(wanted !== undefined && name !== 'audio' ? [wanted] : []), ...audio];
  const isComplete = name === 'audio' ? audio.length > 0 : renditions.length > audio.length;
  return isComplete ? { kind: 'download', name, renditions, ...inside } : undefined;
}

/** What clients are told of a download that the video has no rendition for. */
export function notAvailable(name: DownloadName, { video }: TrackNames): string {
  if (name === 'audio') return 'This video has no audio.';
  if (video.length === 0) return 'This is sound alone. Ask for audio.';
  return `This video has no ${name} rendition. It has ${video.join(', ')}.`;
}
