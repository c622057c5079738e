import { gunzipSync, gzipSync } from 'node:zlib';
import type { ServiceFacts } from '../../src/rule.ts';
import { encrypt, type Files, type Media, type Track, vectorOf } from './good-stream.ts';
import type { Tamper } from './stream-server.ts';
import {
  begins,
  delayPicture,
  movePicture,
  PID,
  packetsOf,
  padded,
  payloadAt,
  pidOf,
  retype,
  shift,
} from './transport-edit.ts';

/** One thing that is wrong with a stream: with its media, its files, or how it is served. */
export type Mutation = {
  what: string;
  /** The rule it breaks, and rules that cannot hold then either. */
  breaks: string;
  also?: readonly string[];
  media?: (media: Media, original: Media) => void;
  files?: (files: Files, media: Media) => void;
  tamper?: Tamper;
  facts?: ServiceFacts;
};

const FRAME = 3600;
const SLICE = { plain: 1, idr: 5 } as const;
const SPS = 7;
const FILLER = 12;

/** One mutation at least for each rule. */
export const MUTATIONS: readonly Mutation[] = [
  { what: 'a byte order mark', breaks: 'playlist.text', files: edit('180p/index.m3u8', /^/, '\uFEFF') },
  {
    what: 'a tabulator in a title',
    breaks: 'playlist.text',
    files: edit('180p/index.m3u8', /,\n/, ',\tone\n'),
  },
  {
    what: 'bytes that are not UTF-8',
    breaks: 'playlist.text',
    files: (files) => {
      const text = files.get('audio/index.m3u8') ?? Buffer.alloc(0);
      files.set('audio/index.m3u8', Buffer.concat([text, Buffer.from('# caf\xe9\n', 'latin1')]));
    },
  },
  { what: 'a blank first line', breaks: 'playlist.first-line', files: edit('master.m3u8', /^/, '\n') },
  {
    what: 'a blank in an attribute list',
    breaks: 'playlist.attributes',
    files: edit('master.m3u8', ',CODECS', ', CODECS'),
  },
  {
    what: 'an attribute twice',
    breaks: 'playlist.attributes',
    files: edit('master.m3u8', ',NAME', ',TYPE=AUDIO,NAME'),
  },
  {
    what: 'a number in quotation marks',
    breaks: 'playlist.attributes',
    files: edit('master.m3u8', 'BANDWIDTH=90000', 'BANDWIDTH="90000"'),
  },
  {
    what: 'a name without quotation marks',
    breaks: 'playlist.attributes',
    files: edit('master.m3u8', '"Audio"', 'Audio'),
  },
  { what: 'a missing name', breaks: 'playlist.attributes', files: edit('master.m3u8', 'NAME="Audio",', '') },
  {
    what: 'a tag twice',
    breaks: 'playlist.tags-once',
    files: edit(
      '180p/index.m3u8',
      '#EXT-X-MEDIA-SEQUENCE:0',
      '#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-MEDIA-SEQUENCE:0',
    ),
  },
  {
    what: 'a media tag in the master playlist',
    breaks: 'playlist.structure',
    files: edit('master.m3u8', '#EXT-X-INDEP', '#EXT-X-TARGETDURATION:6\n#EXT-X-INDEP'),
  },
  {
    what: 'EXTINF without an address',
    breaks: 'playlist.structure',
    files: edit('180p/index.m3u8', '#EXT-X-ENDLIST', '#EXTINF:6,\n#EXT-X-ENDLIST'),
  },
  {
    what: 'a target duration with a fraction',
    breaks: 'playlist.structure',
    files: edit('audio/index.m3u8', 'DURATION:6', 'DURATION:6.0'),
  },
  {
    what: 'a version that is too low',
    breaks: 'playlist.version',
    files: edit('180p/index.m3u8', 'VERSION:6', 'VERSION:2'),
  },

  {
    what: 'another level in CODECS',
    breaks: 'master.codecs',
    files: edit('master.m3u8', '64000c', '640029'),
  },
  {
    what: 'CODECS without the sound',
    breaks: 'master.codecs',
    files: edit('master.m3u8', ',mp4a.40.2"', '"'),
  },
  {
    what: 'CODECS with another profile of sound',
    breaks: 'master.codecs',
    files: edit('master.m3u8', 'mp4a.40.2', 'mp4a.40.5'),
  },
  { what: 'another size', breaks: 'master.resolution', files: edit('master.m3u8', '320x180', '320x192') },
  {
    what: 'a frame rate without decimals',
    breaks: 'master.frame-rate',
    files: edit('master.m3u8', '25.000', '25'),
  },
  { what: 'another frame rate', breaks: 'master.frame-rate', files: edit('master.m3u8', '25.000', '25.003') },
  {
    what: 'nothing said of captions',
    breaks: 'master.closed-captions',
    files: edit('master.m3u8', /,CLOSED-CAPTIONS=NONE/g, ''),
  },
  {
    what: 'nothing said of captions by one variant',
    breaks: 'master.groups',
    also: ['master.closed-captions'],
    files: edit('master.m3u8', /,CLOSED-CAPTIONS=NONE/, ''),
  },
  {
    what: 'segments not said to be independent',
    breaks: 'master.independent-segments',
    files: edit('master.m3u8', '#EXT-X-INDEPENDENT-SEGMENTS\n', ''),
  },
  {
    what: 'a group twice under one name',
    breaks: 'master.groups',
    files: edit('master.m3u8', /(#EXT-X-MEDIA:.*\n)/, '$1$1'),
  },
  {
    what: 'a default that may not be chosen',
    breaks: 'master.groups',
    also: ['master.audio-attributes'],
    files: edit('master.m3u8', 'AUTOSELECT=YES', 'AUTOSELECT=NO'),
  },
  {
    what: 'a group that does not exist',
    breaks: 'master.groups',
    also: ['master.codecs', 'master.bandwidth', 'master.average-bandwidth'],
    files: edit('master.m3u8', /AUDIO="audio"/g, 'AUDIO="other"'),
  },
  {
    what: 'sound without a language',
    breaks: 'master.language',
    files: edit('master.m3u8', ',LANGUAGE="und"', ''),
  },
  {
    what: 'another number of channels',
    breaks: 'master.channels',
    files: edit('master.m3u8', 'CHANNELS="2"', 'CHANNELS="6"'),
  },
  {
    what: 'sound without channels',
    breaks: 'master.audio-attributes',
    files: edit('master.m3u8', ',CHANNELS="2"', ''),
  },
  {
    what: 'no I-frame playlist',
    breaks: 'master.i-frame-playlists',
    files: edit('master.m3u8', /#EXT-X-I-FRAME.*\n/, ''),
  },
  {
    what: 'only high bit rates',
    breaks: 'master.cellular-variant',
    files: edit('master.m3u8', /BANDWIDTH=19\d{4}/, 'BANDWIDTH=199000'),
  },
  {
    what: 'one variant',
    breaks: 'master.several-variants',
    files: edit('master.m3u8', /#EXT-X-STREAM-INF:.*320x180.*\n.*\n/, ''),
    facts: { variants: ['90p'] },
    also: ['service.stored-segments'],
  },

  {
    what: 'a bit rate just below the peak',
    breaks: 'master.bandwidth',
    files: editNumber('BANDWIDTH', (peak) => peak - 10),
  },
  {
    what: 'a bit rate far above the peak',
    breaks: 'master.bandwidth',
    files: editNumber('BANDWIDTH', (peak) => Math.round(peak * 1.101)),
  },
  {
    what: 'an average that is wrong',
    breaks: 'master.average-bandwidth',
    files: editNumber('AVERAGE-BANDWIDTH', (average) => Math.round(average * 0.895)),
  },
  {
    what: 'no average',
    breaks: 'master.average-bandwidth',
    files: edit('master.m3u8', /AVERAGE-BANDWIDTH=\d+,(?=.*320)/, ''),
  },
  {
    what: 'a segment that is far larger than the others',
    breaks: 'master.peak-to-average',
    media: ({ tracks: [, top] }) => {
      if (top) top.segments[1] = padded(top.segments[1] ?? Buffer.alloc(0), 12_000);
    },
  },
  {
    what: 'the smaller variant first',
    breaks: 'master.default-variant',
    files: edit('master.m3u8', /(#EXT-X-STREAM-INF:.*\n.*\n)(#EXT-X-STREAM-INF:.*\n.*\n)/, '$2$1'),
  },

  {
    what: 'segments above the target duration',
    breaks: 'media.target-duration',
    also: ['media.six-seconds'],
    files: everyPlaylist('DURATION:6', 'DURATION:5'),
  },
  {
    what: 'another target duration for the sound',
    breaks: 'media.same-target-duration',
    also: ['media.six-seconds'],
    files: edit('audio/index.m3u8', 'DURATION:6', 'DURATION:7'),
  },
  {
    what: 'a long target duration',
    breaks: 'media.six-seconds',
    files: everyPlaylist('DURATION:6', 'DURATION:7'),
  },
  {
    what: 'no playlist type',
    breaks: 'media.playlist-type',
    files: edit('90p/index.m3u8', /#EXT-X-PLAYLIST-TYPE.*\n/, ''),
  },
  {
    what: 'a playlist that is not ended',
    breaks: 'media.complete',
    files: edit('90p/index.m3u8', '#EXT-X-ENDLIST', ''),
  },
  { what: 'an event', breaks: 'media.complete', files: edit('90p/index.m3u8', ':VOD', ':EVENT') },
  {
    what: 'a discontinuity',
    breaks: 'media.no-discontinuity',
    files: edit('90p/index.m3u8', /(#EXTINF.*\n1.ts)/, '#EXT-X-DISCONTINUITY\n$1'),
  },
  {
    what: 'a duration that is off',
    breaks: 'media.durations',
    files: edit('180p/index.m3u8', '6.000000', '6.050000'),
  },
  {
    what: 'durations that are a little off, again and again',
    breaks: 'media.durations',
    files: edit('180p/index.m3u8', /6\.000000/g, '6.025000'),
  },

  {
    what: 'a segment that is cut off',
    breaks: 'segments.readable',
    media: onTrack('180p', ({ segments }) => {
      segments[1] = segments[1]?.subarray(0, -100) ?? Buffer.alloc(0);
    }),
  },
  {
    what: 'a packet out of step',
    breaks: 'segments.readable',
    media: onTrack('audio', ({ segments: [, second] }) => second?.writeUInt8(0x46, 188 * 5)),
  },
  {
    what: 'a damaged PAT',
    breaks: 'segments.tables',
    media: onTrack('180p', ({ segments: [, second] }) => {
      const pat = packets(second).find((packet) => pidOf(packet) === PID.pat);
      pat?.writeUInt8(0xff, payloadAt(pat) + 12);
    }),
  },
  {
    what: 'a segment without PMT',
    breaks: 'segments.tables',
    media: onTrack('180p', ({ segments }) => {
      const kept = packets(segments[1]).filter((packet) => pidOf(packet) !== PID.pmt);
      segments[1] = Buffer.concat(kept);
    }),
  },
  {
    what: 'a packet lost',
    breaks: 'segments.continuity',
    media: onTrack('180p', ({ segments }) => {
      const all = packets(segments[1]);
      const lost = all.findLastIndex((packet) => pidOf(packet) === PID.stream && !begins(packet));
      segments[1] = Buffer.concat(all.filter((_, at) => at !== lost));
    }),
  },
  {
    what: 'counters that begin anew with each segment',
    breaks: 'segments.continuity',
    media: onTrack('180p', ({ segments: [, second] }) => {
      for (const packet of packets(second)) {
        const control = packet.readUInt8(3);
        if (pidOf(packet) === PID.stream) packet.writeUInt8((control & 0xf0) | ((control + 3) & 0x0f), 3);
      }
    }),
  },
  {
    what: 'rungs whose later segments overlap the first',
    breaks: 'segments.timestamps',
    media: ({ tracks }) => {
      for (const { segments } of tracks.slice(0, 2))
        for (const segment of segments.slice(1)) shift(segment, -1900);
    },
  },
  {
    what: 'sound with a gap between segments',
    breaks: 'segments.timestamps',
    media: onTrack('audio', ({ segments }) => {
      for (const segment of segments.slice(1)) shift(segment, 1400);
    }),
  },
  {
    what: 'sound with a gap in a segment',
    breaks: 'segments.timestamps',
    media: onTrack('audio', ({ segments: [, second] }) => second && shift(second, 1400, 4, 8)),
  },
  {
    what: 'a segment without SPS',
    breaks: 'segments.idr',
    media: onTrack('180p', ({ segments: [, second] }) => second && retype(second, SPS, FILLER)),
  },
  {
    what: 'a segment that begins with another picture than IDR',
    breaks: 'segments.idr',
    media: onTrack('180p', ({ segments: [, second] }) => {
      if (second) retype(second.subarray(0, endOfFirstPicture(second)), SLICE.idr, SLICE.plain);
    }),
  },
  {
    what: 'a segment that shows a picture before its first',
    breaks: 'segments.idr',
    also: ['segments.constant-frame-rate'],
    media: onTrack('180p', ({ segments: [, second] }) => second && movePicture(second, 20, -90)),
  },
  {
    what: 'an IDR picture less',
    breaks: 'segments.key-frames',
    media: onTrack('180p', ({ segments: [, second] }) => {
      if (second) retype(second, SLICE.idr, SLICE.plain, endOfFirstPicture(second));
    }),
  },
  {
    what: 'a picture that comes late',
    breaks: 'segments.constant-frame-rate',
    media: onTrack('180p', ({ segments: [, second] }) => second && delayPicture(second, 20, FRAME / 2)),
  },

  {
    what: 'a rung that begins later',
    breaks: 'alignment.video-start',
    media: onTrack('90p', ({ segments }) => {
      for (const segment of segments) shift(segment, FRAME / 2);
    }),
  },
  {
    what: 'a rung that is cut two milliseconds off',
    breaks: 'alignment.video-segments',
    media: onTrack('90p', ({ segments }) => {
      for (const segment of segments.slice(1)) shift(segment, 180);
    }),
  },
  {
    what: 'sound that is cut elsewhere',
    breaks: 'alignment.audio-segments',
    also: ['service.stored-segments'],
    media: ({ tracks }, original) => {
      const other = original.tracks.find(({ name }) => name === 'audio-4s');
      if (other) tracks.splice(2, 1, { ...other, name: 'audio' });
    },
  },
  {
    what: 'sound that begins too early',
    breaks: 'alignment.audio-start',
    also: ['alignment.end'],
    media: onTrack('audio', ({ segments }) => {
      for (const segment of segments) shift(segment, -2 * FRAME);
    }),
  },
  {
    what: 'sound that ends early',
    breaks: 'alignment.end',
    also: ['alignment.audio-segments', 'service.stored-segments'],
    media: onTrack('audio', ({ segments, durations }) => {
      segments.pop();
      durations.pop();
    }),
  },

  {
    what: 'a segment in clear',
    breaks: 'encryption.everything',
    files: (files, media) => {
      edit('180p/index.m3u8', /(#EXTINF.*\n2.ts)/, '#EXT-X-KEY:METHOD=NONE\n$1')(files);
      files.set('180p/2.ts', trackOf(media, '180p').segments[2] ?? Buffer.alloc(0));
    },
  },
  {
    what: 'a key that is too long',
    breaks: 'encryption.key',
    files: (files) => files.set('key', Buffer.alloc(17)),
  },
  {
    what: 'a segment under another vector',
    breaks: 'encryption.whole-segments',
    files: (files, media) => reencrypt(files, media, '180p', 1, vectorOf(7)),
  },
  {
    what: 'a segment under another key',
    breaks: 'encryption.whole-segments',
    files: (files, media) =>
      reencrypt(files, { ...media, key: Buffer.alloc(16, 1) }, 'audio', 2, vectorOf(2)),
  },
  {
    what: 'a segment that is not padded',
    breaks: 'encryption.whole-segments',
    files: (files) => files.set('180p/0.ts', (files.get('180p/0.ts') ?? Buffer.alloc(0)).subarray(0, -16)),
  },
  {
    what: 'a segment that is said to be encrypted and is not',
    breaks: 'encryption.whole-segments',
    files: (files, media) => files.set('180p/2.ts', trackOf(media, '180p').segments[2] ?? Buffer.alloc(0)),
  },
  {
    what: 'one vector for all segments',
    breaks: 'encryption.vectors',
    files: (files, media) => {
      edit('audio/index.m3u8', '"../key"', `"../key",IV=0x${vectorOf(9).toString('hex')}`)(files);
      for (const at of [0, 1, 2]) reencrypt(files, media, 'audio', at, vectorOf(9));
    },
  },
  {
    what: 'a key of its own for the sound',
    breaks: 'encryption.one-key',
    files: (files, media) => {
      const key = Buffer.alloc(16, 2);
      edit('audio/index.m3u8', '../key', '../other-key')(files);
      files.set('other-key', key);
      for (const at of [0, 1, 2]) reencrypt(files, { ...media, key }, 'audio', at, vectorOf(at));
    },
  },

  {
    what: 'a segment that is missing',
    breaks: 'delivery.reachable',
    files: (files) => files.delete('180p/2.ts'),
  },
  {
    what: 'a segment that breaks off',
    breaks: 'delivery.reachable',
    tamper: (reply, { path }) => {
      if (path !== '180p/2.ts') return;
      reply.headers['Content-Length'] = String(reply.body.length + 1);
      reply.headers.Connection = 'close';
    },
  },
  {
    what: 'a segment that is elsewhere',
    breaks: 'delivery.no-redirects',
    files: (files) => files.set('elsewhere.ts', files.get('180p/2.ts') ?? Buffer.alloc(0)),
    tamper: (reply, { path }) => {
      if (path === '180p/2.ts')
        Object.assign(reply, { status: 302, headers: { ...reply.headers, Location: '../elsewhere.ts' } });
    },
  },
  {
    what: 'segments called something else',
    breaks: 'delivery.types',
    tamper: header(/180p.*\.ts$/, 'Content-Type', 'text/plain'),
  },
  {
    what: 'playlists that are not compressed',
    breaks: 'delivery.compressed-playlists',
    tamper: (reply, asked) => {
      if (!asked.path.endsWith('.m3u8') || asked.method !== 'GET') return;
      delete reply.headers['Content-Encoding'];
      if (reply.status === 200) reply.body = plainPlaylist(reply.body);
      reply.headers['Content-Length'] = String(reply.body.length);
    },
  },
  {
    what: 'a key that is compressed',
    breaks: 'delivery.plain-segments',
    tamper: (reply, { path, method }) => {
      if (path !== 'key' || method !== 'GET') return;
      reply.body = gzipSync(reply.body);
      reply.headers['Content-Encoding'] = 'gzip';
      reply.headers['Content-Length'] = String(reply.body.length);
    },
  },
  {
    what: 'a key that may be kept',
    breaks: 'delivery.caching',
    tamper: header(/key$/, 'Cache-Control', 'public, max-age=60'),
  },
  {
    what: 'segments kept for a day',
    breaks: 'delivery.caching',
    tamper: header(/\.ts$/, 'Cache-Control', 'public, max-age=86400'),
  },
  {
    what: 'errors no page may read',
    breaks: 'delivery.cross-origin',
    tamper: (reply) => {
      if (reply.status === 404) delete reply.headers['Access-Control-Allow-Origin'];
    },
  },
  {
    what: 'a preflight that is refused',
    breaks: 'delivery.cross-origin',
    tamper: (reply, { method }) => {
      if (method === 'OPTIONS') reply.status = 405;
    },
  },
  {
    what: 'ranges that are not heard',
    breaks: 'delivery.ranges',
    tamper: (reply, { headers }) => {
      if (headers.range && reply.status === 206) reply.status = 200;
    },
  },
  {
    what: 'other bytes than asked for',
    breaks: 'delivery.ranges',
    tamper: (reply) => {
      if (reply.status === 206) reply.body = Buffer.from(reply.body).fill(0, 0, 1);
    },
  },
  {
    what: 'HEAD that is not known',
    breaks: 'delivery.head',
    tamper: (reply, { method }) => {
      if (method === 'HEAD') reply.status = 405;
    },
  },
  {
    what: 'conditions that are not heard',
    breaks: 'delivery.not-modified',
    tamper: (reply) => {
      if (reply.status === 304) reply.status = 200;
    },
  },
  {
    what: 'playlists without a validator',
    breaks: 'delivery.not-modified',
    tamper: (reply, { path }) => {
      if (path.endsWith('.m3u8')) delete reply.headers.ETag;
    },
  },

  {
    what: 'a variant only the API has',
    breaks: 'service.variants',
    facts: { variants: ['90p', '180p', '360p'] },
  },
  {
    what: 'a segment nobody lists',
    breaks: 'service.stored-segments',
    facts: { storedSegments: ['90p/0.ts'] },
  },
];

function edit(path: string, from: string | RegExp, to: string): (files: Files) => void {
  return (files) => {
    const before = files.get(path)?.toString() ?? '';
    const after = before.replace(from, to);
    if (after === before) throw new Error(`There is no ${from} in ${path}`);
    files.set(path, Buffer.from(after));
  };
}

function everyPlaylist(from: string, to: string): (files: Files) => void {
  return (files) => {
    for (const name of ['90p', '180p', 'audio']) edit(`${name}/index.m3u8`, from, to)(files);
  };
}

/** Changes a number of the first variant. */
function editNumber(name: string, change: (value: number) => number): (files: Files) => void {
  return (files) => {
    const pattern = new RegExp(`(STREAM-INF:(?:.*,)?${name}=)(\\d+)(?=.*320x180)`);
    const [, , value] = pattern.exec(files.get('master.m3u8')?.toString() ?? '') ?? [];
    edit('master.m3u8', pattern, `$1${change(Number(value))}`)(files);
  };
}

function onTrack(name: string, alter: (track: Track) => unknown): (media: Media) => void {
  return (media) => void alter(trackOf(media, name));
}

function trackOf({ tracks }: Media, name: string): Track {
  const track = tracks.find((each) => each.name === name);
  if (track === undefined) throw new Error(`There is no ${name}`);
  return track;
}

function packets(segment: Buffer | undefined): Buffer[] {
  return packetsOf(segment ?? Buffer.alloc(0));
}

/** Where the second picture of a segment begins. */
function endOfFirstPicture(segment: Buffer): number {
  const [, second] = packetsOf(segment).filter((packet) => pidOf(packet) === PID.stream && begins(packet));
  return second === undefined ? segment.length : second.byteOffset - segment.byteOffset;
}

function reencrypt(files: Files, media: Media, name: string, at: number, vector: Buffer): void {
  files.set(
    `${name}/${at}.ts`,
    encrypt(trackOf(media, name).segments[at] ?? Buffer.alloc(0), media.key, vector),
  );
}

function header(path: RegExp, name: string, value: string): Tamper {
  return (reply, asked) => {
    if (path.test(asked.path) && name in reply.headers) reply.headers[name] = value;
  };
}

function plainPlaylist(body: Buffer): Buffer {
  return body[0] === 0x1f ? gunzipSync(body) : body;
}
