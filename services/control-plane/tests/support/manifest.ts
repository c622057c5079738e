import type { Manifest } from '@framelane/contracts/manifest';

export const SEGMENT_BYTES = { '360p': 480_000, '480p': 900_000, audio: 96_000 } as const;

/** The manifest of a 20 s clip with two video renditions and audio. */
export function sampleManifest(): Manifest {
  const segments = (bytes: number) =>
    [6, 6, 6, 2].map((duration) => ({ duration, bytes: (bytes * duration) / 6 }));
  const video = { frameRate: 25, channels: null, language: null };
  return {
    source: {
      container: 'mov,mp4,m4a,3gp,3g2,mj2',
      videoCodec: 'h264',
      audioCodec: 'aac',
      width: 854,
      height: 480,
      frameRate: 25,
      duration: 20,
    },
    duration: 20,
    inputIssues: [{ code: 'interlaced', message: 'The video was interlaced and has been deinterlaced.' }],
    renditions: [
      {
        ...video,
        name: '360p',
        codecs: 'avc1.64001e',
        width: 640,
        height: 360,
        segments: segments(SEGMENT_BYTES['360p']),
      },
      {
        ...video,
        name: '480p',
        codecs: 'avc1.64001f',
        width: 854,
        height: 480,
        segments: segments(SEGMENT_BYTES['480p']),
      },
      {
        name: 'audio',
        codecs: 'mp4a.40.2',
        width: null,
        height: null,
        frameRate: null,
        channels: 2,
        language: 'en',
        segments: segments(SEGMENT_BYTES.audio),
      },
    ],
    poster: { bytes: 40_000 },
    storyboard: { bytes: 60_000, width: 160, height: 90, columns: 10, tiles: 20, interval: 1 },
    captions: [],
    startTimestamp: 1_026_000,
  };
}
