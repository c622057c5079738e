import { bodyAt, delay, sampleOf } from './box-edit.ts';
import type { Files, Media, Track } from './good-stream.ts';
import { edit, type Mutation, onTrack } from './mutations.ts';

/** The first byte of NAL units in HEVC and in H.264. */
const HEVC = { cra: 0x2a, vps: 0x40, message: 0x4e } as const;
const H264 = { pps: 0x68 } as const;
const LENGTH_BYTES = 4;
/** The header of an OBU that decoders skip, and an INTER frame that is shown, after the header and the size of its OBU. */
const PADDING_OBU = 0x7a;
const METADATA_OBU = 0x2a;
const INTER_FRAME = 0x30;
/** Frames between key frames. */
const DISTANCE = 50;
/** A frame at 25 frames a second, in the units of ffmpeg's tracks. */
const FRAME = 512;

/** Errors in a stream of fragmented MP4 that has H.264, AV1 and HEVC. */
export const CODEC_MUTATIONS: readonly Mutation[] = [
  {
    what: 'HEVC in hev1',
    breaks: 'codecs.sample-entry',
    files: both(
      onFile('180p-hevc/init.mp4', (bytes) => bytes.write('hev1', bodyAt(bytes, 'hvc1') - 4, 'latin1')),
      edit('master.m3u8', 'hvc1.1.6.L60', 'hev1.1.6.L60'),
    ),
  },
  {
    what: 'HEVC with a parameter set in a frame',
    breaks: 'codecs.parameter-sets',
    media: onTrack(
      '180p-hevc',
      onSample(1, 7, (sample) => sample.writeUInt8(HEVC.vps, LENGTH_BYTES)),
    ),
  },
  {
    what: 'H.264 with a parameter set in a frame',
    breaks: 'codecs.parameter-sets',
    media: onTrack(
      '180p',
      onSample(1, 7, (sample) => sample.writeUInt8(H264.pps, LENGTH_BYTES)),
    ),
  },
  {
    what: 'AV1 with other tools in its initialization section',
    breaks: 'codecs.sequence-header',
    // After the configuration, and the header and the size of its OBU: the tools are after the frame size.
    files: onFile('180p-av1/init.mp4', (bytes) => {
      const at = bodyAt(bytes, 'av1C') + 4 + 2 + 7;
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x80, at);
    }),
  },
  {
    what: 'HEVC with a message',
    breaks: 'codecs.messages',
    media: onTrack(
      '180p-hevc',
      onSample(1, 7, (sample) => sample.writeUInt8(HEVC.message, LENGTH_BYTES)),
    ),
  },
  {
    what: 'AV1 with metadata',
    breaks: 'codecs.messages',
    media: onTrack(
      '180p-av1',
      onSample(1, 3, (sample) => sample.writeUInt8(METADATA_OBU, 0)),
    ),
  },
  {
    what: 'no H.264',
    breaks: 'codecs.h264',
    also: ['service.variants', 'service.stored-segments'],
    files: edit('master.m3u8', /#EXT-X-STREAM-INF:.*avc1.*\n.*\n/g, ''),
  },
  {
    what: 'AV1 with one variant',
    breaks: 'codecs.ladders',
    also: ['master.several-variants', 'service.stored-segments'],
    files: edit('master.m3u8', /#EXT-X-STREAM-INF:.*av01.*160x90.*\n.*\n/, ''),
  },
  {
    what: 'HEVC without subtitles',
    breaks: 'codecs.ladders',
    files: edit('master.m3u8', /(hvc1.*),SUBTITLES="captions"/g, '$1'),
  },
  {
    what: 'one variant with SCORE',
    breaks: 'codecs.score',
    files: edit('master.m3u8', 'FRAME-RATE', 'SCORE=2.0,FRAME-RATE'),
  },
  {
    what: 'HDR that is not declared',
    breaks: 'codecs.video-range',
    media: withHdr,
    files: edit('master.m3u8', 'hvc1.1.6.L60', 'hvc1.2.4.L60'),
  },
  {
    what: 'HDR that is declared, and of which there is one frame size',
    breaks: 'codecs.ladders',
    media: withHdr,
    files: both(
      edit('master.m3u8', 'hvc1.1.6.L60', 'hvc1.2.4.L60'),
      edit('master.m3u8', /(#EXT-X-STREAM-INF:)(?=.*hvc1.2.4)/g, '$1VIDEO-RANGE=PQ,'),
      edit('master.m3u8', /(#EXT-X-STREAM-INF:)(?!VIDEO-RANGE)/g, '$1VIDEO-RANGE=SDR,'),
    ),
  },
  {
    what: 'no SDR',
    breaks: 'codecs.sdr',
    also: ['codecs.video-range'],
    files: edit('master.m3u8', /(#EXT-X-STREAM-INF:)/g, '$1VIDEO-RANGE=HLG,'),
  },
  {
    what: 'another level of HEVC in CODECS',
    breaks: 'master.codecs',
    files: edit('master.m3u8', 'hvc1.1.6.L60', 'hvc1.1.6.L63'),
  },
  {
    what: 'another tier of HEVC in CODECS',
    breaks: 'master.codecs',
    files: edit('master.m3u8', 'hvc1.1.6.L60', 'hvc1.1.6.H60'),
  },
  {
    what: 'the bit depth of AV1 missing in CODECS',
    breaks: 'master.codecs',
    files: edit('master.m3u8', 'av01.0.00M.08', 'av01.0.00M'),
  },
  {
    what: 'another bit depth of AV1 in CODECS',
    breaks: 'master.codecs',
    files: edit('master.m3u8', 'av01.0.00M.08', 'av01.0.00M.10'),
  },
  {
    what: 'another size of AV1',
    breaks: 'master.resolution',
    also: ['codecs.ladders'],
    files: edit('master.m3u8', /(av01.*)320x180/, '$1320x192'),
  },
  {
    what: 'another level of HEVC in its initialization section than in the parameter sets',
    breaks: 'segments.initialization',
    files: onFile('180p-hevc/init.mp4', (bytes) => bytes.writeUInt8(63, bodyAt(bytes, 'hvcC') + 12)),
  },
  {
    what: 'another level of AV1 in its initialization section than in the sequence header',
    breaks: 'segments.initialization',
    files: onFile('180p-av1/init.mp4', (bytes) => bytes.writeUInt8(0x04, bodyAt(bytes, 'av1C') + 1)),
  },
  {
    what: 'a segment of HEVC that does not begin with an IDR frame',
    breaks: 'segments.idr',
    media: onTrack(
      '180p-hevc',
      onSample(1, 0, (sample) => sample.writeUInt8(HEVC.cra, LENGTH_BYTES)),
    ),
  },
  {
    what: 'a segment of AV1 that does not begin with a key frame',
    breaks: 'segments.idr',
    media: onTrack(
      '180p-av1',
      onSample(1, 0, (sample) => sample.writeUInt8(INTER_FRAME, frameAt(sample))),
    ),
  },
  {
    what: 'a segment of AV1 without a sequence header',
    breaks: 'segments.idr',
    media: onTrack(
      '180p-av1',
      onSample(1, 0, (sample) => sample.writeUInt8(PADDING_OBU, 0)),
    ),
  },
  {
    what: 'AV1 with an OBU that is longer than its frame',
    breaks: 'segments.readable',
    media: onTrack(
      '180p-av1',
      onSample(1, 3, (sample) => sample.fill(0xff, 1, 4).writeUInt8(0x7f, 4)),
    ),
  },
  {
    what: 'AV1 with another sequence header in one segment',
    breaks: 'segments.configuration',
    also: ['codecs.sequence-header'],
    // The level is after 24 bits of the sequence header.
    media: onTrack(
      '180p-av1',
      onSample(1, 0, (sample) => sample.writeUInt8(0x08, 5)),
    ),
  },
  {
    what: 'a key frame of HEVC missing',
    breaks: 'segments.key-frames',
    media: onTrack(
      '180p-hevc',
      onSample(1, DISTANCE, (sample) => sample.writeUInt8(HEVC.cra, LENGTH_BYTES)),
    ),
  },
  {
    what: 'AV1 that begins two frames after H.264',
    breaks: 'alignment.video-start',
    also: ['alignment.end'],
    media: onTrack('180p-av1', ({ segments }) => {
      for (const segment of segments) delay(segment, 2 * FRAME);
    }),
  },
  {
    what: 'HEVC with other segments than H.264',
    breaks: 'alignment.video-segments',
    media: (media) => {
      const track = trackNamed(media, '180p-hevc');
      track.segments.pop();
      track.durations.pop();
    },
    also: ['alignment.end', 'service.stored-segments'],
  },
];

/** HEVC in HDR instead of the larger variant of HEVC. */
function withHdr(media: Media, original: Media): void {
  const at = media.tracks.findIndex(({ name }) => name === '180p-hevc');
  media.tracks.splice(at, 1, { ...trackNamed(original, '180p-hevc-pq'), name: '180p-hevc' });
}

function trackNamed({ tracks }: Media, name: string): Track {
  const track = tracks.find((each) => each.name === name);
  if (track === undefined) throw new Error(`There is no ${name}`);
  return track;
}

/** Alters a sample of a segment. */
function onSample(
  segment: number,
  sample: number,
  alter: (bytes: Buffer) => unknown,
): (track: Track) => void {
  return ({ segments }) => {
    alter(sampleOf(segments[segment] ?? Buffer.alloc(0), sample));
  };
}

/** Where the frame header is in a key frame of AV1: after the sequence header, and the header and the size of its own OBU. */
function frameAt(sample: Buffer): number {
  let at = 2 + sample.readUInt8(1) + 1;
  while ((sample.readUInt8(at) & 0x80) !== 0) at += 1;
  return at + 1;
}

function onFile(path: string, alter: (bytes: Buffer) => unknown): (files: Files) => void {
  return (files) => {
    const file = files.get(path);
    if (file === undefined) throw new Error(`There is no ${path}`);
    alter(file);
  };
}

function both(...edits: ((files: Files) => void)[]): (files: Files) => void {
  return (files) => {
    for (const each of edits) each(files);
  };
}
