import { bodyAt, delay, hide } from './box-edit.ts';
import { encrypt, type Files, type Media } from './good-stream.ts';
import { edit, type Mutation, onTrack } from './mutations.ts';

/** The types of NAL units of an IDR frame and of another one, and of filler data. */
const [IDR, PLAIN, FILLER] = [0x65, 0x41, 12];
const VECTOR = Buffer.alloc(16, 9);

/** Errors in a stream of fragmented MP4. */
export const FRAGMENT_MUTATIONS: readonly Mutation[] = [
  {
    what: 'an initialization section without ftyp',
    breaks: 'segments.initialization',
    files: onInitialization((bytes) => hide(bytes, 'ftyp')),
  },
  {
    what: 'an initialization section with old brands only',
    breaks: 'segments.initialization',
    files: onInitialization((bytes) => {
      const begin = bodyAt(bytes, 'ftyp');
      const end = begin - 8 + bytes.readUInt32BE(begin - 8);
      for (const at of [begin, ...range(begin + 8, end, 4)]) bytes.write('isom', at, 'latin1');
    }),
  },
  {
    what: 'an initialization section with a duration',
    breaks: 'segments.initialization',
    files: onInitialization((bytes) => bytes.writeUInt32BE(14_000, bodyAt(bytes, 'mvhd') + 16)),
  },
  {
    what: 'an initialization section without mvex',
    breaks: 'segments.initialization',
    files: onInitialization((bytes) => hide(bytes, 'mvex')),
  },
  {
    what: 'an initialization section that is missing',
    breaks: 'segments.initialization',
    also: ['playback.reachable'],
    files: (files) => files.delete('180p/init.mp4'),
  },
  {
    what: 'an initialization section that is truncated',
    breaks: 'segments.initialization',
    files: (files) => files.set('180p/init.mp4', fileOf(files, '180p/init.mp4').subarray(0, -3)),
  },
  {
    what: 'an encrypted initialization section without an IV',
    breaks: 'segments.initialization',
    files: (files, media) => {
      encryptInitialization(files, media);
      edit('180p/index.m3u8', ',IV=0x09090909090909090909090909090909', '')(files);
    },
  },
  {
    what: 'a fragment without its decoding time',
    breaks: 'segments.fragments',
    also: ['segments.timestamps', 'media.durations', 'alignment.video-segments', 'alignment.audio-segments'],
    media: onTrack('180p', ({ segments: [, second] }) => second && hide(second, 'tfdt')),
  },
  {
    what: 'a truncated segment',
    breaks: 'segments.readable',
    media: onTrack('180p', (track) => track.segments.splice(1, 1, cut(track.segments[1]))),
  },
  {
    what: 'a segment whose track is unknown',
    breaks: 'segments.readable',
    media: onTrack('180p', ({ segments: [, second] }) =>
      second?.writeUInt32BE(7, bodyAt(second, 'tfhd') + 4),
    ),
  },
  {
    what: 'frames before their media',
    breaks: 'segments.readable',
    media: onTrack('180p', ({ segments: [, second] }) =>
      second?.writeInt32BE(-8, bodyAt(second, 'trun') + 8),
    ),
  },
  {
    what: 'an impossible size of a box',
    breaks: 'segments.readable',
    media: onTrack('180p', ({ segments: [, second] }) => {
      second?.writeUInt32BE(3, bodyAt(second, 'mdat') - 8);
    }),
  },
  {
    what: 'audio with a gap between segments',
    breaks: 'segments.timestamps',
    media: onTrack('audio', ({ segments: [, ...others] }) => {
      for (const segment of others) delay(segment, 800);
    }),
  },
  {
    what: 'a segment that does not begin with an IDR frame',
    breaks: 'segments.idr',
    media: onTrack('180p', ({ segments: [, second] }) => {
      second?.writeUInt8(PLAIN, second.indexOf(IDR, bodyAt(second, 'mdat')));
    }),
  },
  {
    what: 'a NAL unit that is longer than its frame',
    breaks: 'segments.readable',
    media: onTrack('180p', ({ segments: [, second] }) => {
      second?.writeUInt32BE(0x7fff_ffff, bodyAt(second, 'mdat'));
    }),
  },
  {
    what: 'renditions with other parameter sets than CODECS',
    breaks: 'master.codecs',
    files: (files) => {
      const bytes = fileOf(files, '180p/init.mp4');
      // The profile and the level in the parameter set, after its configuration and its length.
      bytes.writeUInt8(31, bodyAt(bytes, 'avcC') + 11);
    },
  },
  {
    what: 'a segment that is not encrypted',
    breaks: 'encryption.whole-segments',
    files: (files, { tracks }) => {
      const [, second] = tracks.find(({ name }) => name === '180p')?.segments ?? [];
      if (second) files.set('180p/1.m4s', second);
    },
  },
  {
    what: 'a segment that another vector decrypts',
    breaks: 'encryption.whole-segments',
    files: (files, { tracks, key }) => {
      const [, second] = tracks.find(({ name }) => name === '180p')?.segments ?? [];
      if (second) files.set('180p/1.m4s', encrypt(second, key, VECTOR));
    },
  },
  {
    what: 'an I-frame with another type of frame',
    breaks: 'i-frames.single',
    media: onTrack('i-frames', ({ segments: [, second] }) => {
      second?.writeUInt8(FILLER, second.indexOf(IDR, bodyAt(second, 'mdat')));
    }),
  },
];

/** An encrypted initialization section, after a key tag with an IV. */
export function encryptInitialization(files: Files, { key }: Pick<Media, 'key'>): void {
  const path = '180p/init.mp4';
  files.set(path, encrypt(fileOf(files, path), key, VECTOR));
  const tag = `#EXT-X-KEY:METHOD=AES-128,URI="../key",IV=0x${VECTOR.toString('hex')}\n`;
  edit('180p/index.m3u8', '#EXT-X-MAP', `${tag}#EXT-X-MAP`)(files);
}

function onInitialization(alter: (bytes: Buffer) => unknown): (files: Files) => void {
  return (files) => {
    alter(fileOf(files, '180p/init.mp4'));
  };
}

function fileOf(files: Files, path: string): Buffer {
  const file = files.get(path);
  if (file === undefined) throw new Error(`There is no ${path}`);
  return file;
}

function cut(segment: Buffer | undefined): Buffer {
  return (segment ?? Buffer.alloc(0)).subarray(0, -100);
}

function range(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, at) => from + at * step);
}
