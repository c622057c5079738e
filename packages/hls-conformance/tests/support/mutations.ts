import { gunzipSync, gzipSync } from 'node:zlib';
import type { ServiceFacts } from '../../src/rule.ts';
import { encrypt, FIRST_TIMESTAMP, type Files, type Media, type Track, vectorOf } from './good-stream.ts';
import type { Tamper } from './stream-server.ts';
import {
  begins,
  delayFrame,
  moveFrame,
  PID,
  packetsOf,
  padded,
  payloadAt,
  pidOf,
  retype,
  shift,
} from './transport-edit.ts';

/** One error in a stream: in its media, its files or its responses. */
export type Mutation = {
  what: string;
  /** The rule it breaks, and the rules that depend on it. */
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

/** At least one mutation for each rule. */
export const MUTATIONS: readonly Mutation[] = [
  { what: 'a byte order mark', breaks: 'playlist.text', files: edit('180p/index.m3u8', /^/, '\uFEFF') },
  {
    what: 'a byte order mark in the playlist of captions',
    breaks: 'playlist.text',
    files: edit('captions/index.m3u8', /^/, '\ufeff'),
  },
  {
    what: 'a tab in a title',
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
    what: 'a duplicate attribute',
    breaks: 'playlist.attributes',
    files: edit('master.m3u8', ',NAME', ',TYPE=AUDIO,NAME'),
  },
  {
    what: 'a number in quotation marks',
    breaks: 'playlist.attributes',
    files: edit('master.m3u8', /BANDWIDTH=(\d+)/, 'BANDWIDTH="$1"'),
  },
  {
    what: 'a name without quotation marks',
    breaks: 'playlist.attributes',
    files: edit('master.m3u8', '"Audio"', 'Audio'),
  },
  {
    what: 'EXT-X-START without its time',
    breaks: 'playlist.attributes',
    files: edit('master.m3u8', '#EXT-X-INDEP', '#EXT-X-START:PRECISE=YES\n#EXT-X-INDEP'),
  },
  {
    what: 'an IV that is not hexadecimal',
    breaks: 'playlist.attributes',
    also: ['encryption.whole-segments', 'encryption.vectors'],
    files: edit('180p/index.m3u8', '"../key"', '"../key",IV=0xyz'),
  },
  { what: 'a missing name', breaks: 'playlist.attributes', files: edit('master.m3u8', 'NAME="Audio",', '') },
  {
    what: 'a duplicate tag',
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
    what: 'EXTINF without a URI',
    breaks: 'playlist.structure',
    files: edit('180p/index.m3u8', '#EXT-X-ENDLIST', '#EXTINF:6,\n#EXT-X-ENDLIST'),
  },
  {
    what: 'a target duration with a fraction',
    breaks: 'playlist.structure',
    files: edit('audio/index.m3u8', 'DURATION:6', 'DURATION:6.0'),
  },
  {
    what: 'a version that is not a number',
    breaks: 'playlist.structure',
    files: edit('180p/index.m3u8', 'VERSION:6', 'VERSION:six'),
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
    what: 'HEVC in a transport stream, by its CODECS',
    breaks: 'codecs.container',
    also: ['master.codecs', 'master.several-variants', 'codecs.ladders', 'service.variants'],
    files: edit('master.m3u8', 'avc1.64000c', 'hvc1.1.6.L60.90'),
  },
  {
    what: 'CODECS without the audio',
    breaks: 'master.codecs',
    files: edit('master.m3u8', ',mp4a.40.2"', '"'),
  },
  {
    what: 'CODECS with another audio profile',
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
    what: 'no CLOSED-CAPTIONS',
    breaks: 'master.closed-captions',
    files: edit('master.m3u8', /,CLOSED-CAPTIONS=NONE/g, ''),
  },
  {
    what: 'one variant without CLOSED-CAPTIONS',
    breaks: 'master.groups',
    also: ['master.closed-captions'],
    files: edit('master.m3u8', /,CLOSED-CAPTIONS=NONE/, ''),
  },
  {
    what: 'no EXT-X-INDEPENDENT-SEGMENTS',
    breaks: 'master.independent-segments',
    files: edit('master.m3u8', '#EXT-X-INDEPENDENT-SEGMENTS\n', ''),
  },
  {
    what: 'a group with a duplicate name',
    breaks: 'master.groups',
    also: ['master.audio-attributes'],
    files: edit('master.m3u8', /(#EXT-X-MEDIA:.*\n)/, '$1$1'),
  },
  {
    what: 'two renditions of one language that players may choose',
    breaks: 'master.groups',
    files: edit(
      'master.m3u8',
      /(#EXT-X-MEDIA:.*)NAME="Audio"(.*)DEFAULT=YES(.*\n)/,
      '$&$1NAME="Other"$2DEFAULT=NO$3',
    ),
  },
  {
    what: 'groups with different members',
    breaks: 'master.groups',
    files: edit(
      'master.m3u8',
      /(#EXT-X-MEDIA:.*)"audio",NAME="Audio"(.*\n)/,
      '$&$1"surround",NAME="Other"$2',
    ),
  },
  {
    what: 'no default audio',
    breaks: 'master.audio-attributes',
    files: edit('master.m3u8', 'DEFAULT=YES', 'DEFAULT=NO'),
  },
  {
    what: 'a default with AUTOSELECT=NO',
    breaks: 'master.groups',
    files: edit('master.m3u8', 'AUTOSELECT=YES', 'AUTOSELECT=NO'),
  },
  {
    what: 'a group that does not exist',
    breaks: 'master.groups',
    also: ['master.codecs', 'master.bandwidth', 'master.average-bandwidth'],
    files: edit('master.m3u8', /AUDIO="audio"/g, 'AUDIO="other"'),
  },
  {
    what: 'audio without a language',
    breaks: 'master.language',
    files: edit('master.m3u8', ',LANGUAGE="und"', ''),
  },
  {
    what: 'another number of channels',
    breaks: 'master.channels',
    files: edit('master.m3u8', 'CHANNELS="2"', 'CHANNELS="6"'),
  },
  {
    what: 'audio without CHANNELS',
    breaks: 'master.audio-attributes',
    files: edit('master.m3u8', ',CHANNELS="2"', ''),
  },
  {
    what: 'no I-frame playlist',
    breaks: 'master.i-frame-playlists',
    files: edit('master.m3u8', /#EXT-X-I-FRAME.*\n/, ''),
    also: ['service.stored-segments'],
  },
  {
    what: 'I-frames without their tag',
    breaks: 'i-frames.tag',
    files: edit('i-frames/index.m3u8', '#EXT-X-I-FRAMES-ONLY\n', ''),
  },
  {
    what: 'two I-frames in one segment',
    breaks: 'i-frames.single',
    media: (media) => {
      const { segments } = trackOf(media, 'i-frames');
      segments[0] = Buffer.concat(segments.slice(0, 2));
    },
  },
  {
    what: 'an I-frame that is no IDR frame',
    breaks: 'i-frames.single',
    media: (media) => void retype(trackOf(media, 'i-frames').segments[1] as Buffer, SLICE.idr, SLICE.plain),
  },
  {
    what: 'an I-frame encrypted with another vector',
    breaks: 'i-frames.single',
    files: (files, media) => reencrypt(files, media, 'i-frames', 1, vectorOf(7)),
  },
  {
    what: 'an I-frame at another time',
    breaks: 'i-frames.times',
    media: (media) => shift(trackOf(media, 'i-frames').segments[1] as Buffer, FRAME),
  },
  {
    what: 'an I-frame that lasts too long',
    breaks: 'i-frames.times',
    media: (media) => trackOf(media, 'i-frames').durations.splice(1, 1, 2.1),
  },
  {
    what: 'a bit rate of I-frames below their average',
    breaks: 'i-frames.bandwidth',
    files: edit('master.m3u8', /(I-FRAME-STREAM-INF:BANDWIDTH=)\d+/, '$11'),
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
    files: everyPlaylist('DURATION:6', 'DURATION:5'),
  },
  {
    what: 'another target duration for the audio',
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
    what: 'a wrong duration',
    breaks: 'media.durations',
    also: ['captions.segments'],
    files: edit('180p/index.m3u8', '6.000000', '6.050000'),
  },
  {
    what: 'many slightly wrong durations',
    breaks: 'media.durations',
    also: ['captions.segments'],
    files: edit('180p/index.m3u8', /6\.000000/g, '6.025000'),
  },

  {
    what: 'a truncated segment',
    breaks: 'segments.readable',
    media: onTrack('180p', ({ segments }) => {
      segments[1] = segments[1]?.subarray(0, -100) ?? Buffer.alloc(0);
    }),
  },
  {
    what: 'a misaligned packet',
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
      const others = packets(segments[1]).filter((packet) => pidOf(packet) !== PID.pmt);
      segments[1] = Buffer.concat(others);
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
    what: 'counters that restart with each segment',
    breaks: 'segments.continuity',
    media: onTrack('180p', ({ segments: [, second] }) => {
      for (const packet of packets(second)) {
        const control = packet.readUInt8(3);
        if (pidOf(packet) === PID.stream) packet.writeUInt8((control & 0xf0) | ((control + 3) & 0x0f), 3);
      }
    }),
  },
  {
    what: 'renditions whose later segments overlap the first',
    breaks: 'segments.timestamps',
    media: ({ tracks }) => {
      for (const { segments } of tracks.slice(0, 2))
        for (const segment of segments.slice(1)) shift(segment, -1900);
    },
    also: ['i-frames.times'],
  },
  {
    what: 'audio with a gap between segments',
    breaks: 'segments.timestamps',
    media: onTrack('audio', ({ segments }) => {
      for (const segment of segments.slice(1)) shift(segment, 1400);
    }),
  },
  {
    what: 'audio with a gap in a segment',
    breaks: 'segments.timestamps',
    media: onTrack('audio', ({ segments: [, second] }) => second && shift(second, 1400, 4, 8)),
  },
  {
    what: 'a segment without SPS',
    breaks: 'segments.idr',
    media: onTrack('180p', ({ segments: [, second] }) => second && retype(second, SPS, FILLER)),
  },
  {
    what: 'a segment that does not begin with an IDR frame',
    breaks: 'segments.idr',
    media: onTrack('180p', ({ segments: [, second] }) => {
      if (second) retype(second.subarray(0, endOfFirstFrame(second)), SLICE.idr, SLICE.plain);
    }),
  },
  {
    what: 'a segment that displays a frame before its first',
    breaks: 'segments.idr',
    also: ['segments.constant-frame-rate'],
    media: onTrack('180p', ({ segments: [, second] }) => second && moveFrame(second, 20, -90)),
  },
  {
    what: 'a segment with another parameter set',
    breaks: 'segments.configuration',
    media: (media, original) => {
      trackOf(media, '90p').segments.splice(1, 1, ...trackOf(original, '90p-bt601').segments.slice(1, 2));
    },
  },
  {
    what: 'an IDR frame with another parameter set, after frames with the first one',
    breaks: 'segments.configuration',
    media: onTrack('180p', ({ segments: [first] }) => {
      // The constraint flags follow the start code, the type of the NAL unit and the profile.
      const at = first?.lastIndexOf('0000000167', undefined, 'hex') ?? Number.NaN;
      first?.writeUInt8(0x08, at + 6);
    }),
  },
  {
    what: 'audio with another number of channels in one segment',
    breaks: 'segments.configuration',
    media: onTrack('audio', ({ segments: [, second] }) => second && makeMono(second)),
  },
  {
    what: 'a missing IDR frame',
    breaks: 'segments.key-frames',
    media: onTrack('180p', ({ segments: [, second] }) => {
      if (second) retype(second, SLICE.idr, SLICE.plain, endOfFirstFrame(second));
    }),
  },
  {
    what: 'a late frame',
    breaks: 'segments.constant-frame-rate',
    media: onTrack('180p', ({ segments: [, second] }) => second && delayFrame(second, 20, FRAME / 2)),
  },

  {
    what: 'a rendition that begins later',
    breaks: 'alignment.video-start',
    media: onTrack('90p', ({ segments }) => {
      for (const segment of segments) shift(segment, FRAME / 2);
    }),
  },
  {
    what: 'a rendition cut two milliseconds off',
    breaks: 'alignment.video-segments',
    media: onTrack('90p', ({ segments }) => {
      for (const segment of segments.slice(1)) shift(segment, 180);
    }),
  },
  {
    what: 'audio cut at other times',
    breaks: 'alignment.audio-segments',
    also: ['service.stored-segments'],
    media: ({ tracks }, original) => {
      const other = original.tracks.find(({ name }) => name === 'audio-4s');
      if (other) tracks.splice(2, 1, { ...other, name: 'audio' });
    },
  },
  {
    what: 'audio that begins too early',
    breaks: 'alignment.audio-start',
    also: ['alignment.end'],
    media: onTrack('audio', ({ segments }) => {
      for (const segment of segments) shift(segment, -2 * FRAME);
    }),
  },
  {
    what: 'audio that ends early',
    breaks: 'alignment.end',
    also: ['alignment.audio-segments', 'service.stored-segments'],
    media: onTrack('audio', ({ segments, durations }) => {
      segments.pop();
      durations.pop();
    }),
  },
  {
    what: 'a rendition with other colour tags',
    breaks: 'alignment.colours',
    media: ({ tracks: [low] }, original) => {
      if (low) low.segments = trackOf(original, '90p-bt601').segments;
    },
  },

  {
    what: 'an unencrypted segment',
    breaks: 'encryption.everything',
    files: (files, media) => {
      edit('180p/index.m3u8', /(#EXTINF.*\n2.ts)/, '#EXT-X-KEY:METHOD=NONE\n$1')(files);
      files.set('180p/2.ts', trackOf(media, '180p').segments[2] ?? Buffer.alloc(0));
    },
  },
  {
    what: 'an unencrypted I-frame',
    breaks: 'encryption.everything',
    files: (files, media) => {
      edit('i-frames/index.m3u8', /(#EXTINF.*\n6.ts)/, '#EXT-X-KEY:METHOD=NONE\n$1')(files);
      files.set('i-frames/6.ts', trackOf(media, 'i-frames').segments[6] ?? Buffer.alloc(0));
    },
  },
  {
    what: 'a key that is too long',
    breaks: 'encryption.key',
    files: (files) => files.set('key', Buffer.alloc(17)),
    also: ['i-frames.single'],
  },
  {
    what: 'a segment encrypted with another vector',
    breaks: 'encryption.whole-segments',
    files: (files, media) => reencrypt(files, media, '180p', 1, vectorOf(7)),
  },
  {
    what: 'a segment encrypted with another key',
    breaks: 'encryption.whole-segments',
    files: (files, media) =>
      reencrypt(files, { ...media, key: Buffer.alloc(16, 1) }, 'audio', 2, vectorOf(2)),
  },
  {
    what: 'a segment without padding',
    breaks: 'encryption.whole-segments',
    files: (files) => files.set('180p/0.ts', (files.get('180p/0.ts') ?? Buffer.alloc(0)).subarray(0, -16)),
  },
  {
    what: 'an unencrypted segment with EXT-X-KEY',
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
    what: 'another key for the audio',
    breaks: 'encryption.one-key',
    files: (files, media) => {
      const key = Buffer.alloc(16, 2);
      edit('audio/index.m3u8', '../key', '../other-key')(files);
      files.set('other-key', key);
      for (const at of [0, 1, 2]) reencrypt(files, { ...media, key }, 'audio', at, vectorOf(at));
    },
  },

  {
    what: 'session data with a value and a URI',
    breaks: 'session-data.tag',
    files: edit('master.m3u8', ',URI="chapters.json"', ',VALUE="x",URI="chapters.json"'),
  },
  {
    what: 'session data with neither a value nor a URI',
    breaks: 'session-data.tag',
    files: edit('master.m3u8', ',URI="chapters.json"', ''),
  },
  {
    what: 'chapters that are listed twice',
    breaks: 'session-data.tag',
    files: edit('master.m3u8', /(#EXT-X-SESSION-DATA.*\n)/, '$1$1'),
  },
  {
    what: 'session data that is not JSON',
    breaks: 'session-data.json',
    files: edit('chapters.json', '[', ''),
  },
  {
    what: 'chapters that are missing',
    breaks: 'playback.reachable',
    files: (files) => void files.delete('chapters.json'),
  },
  {
    what: 'chapters of another type',
    breaks: 'playback.types',
    tamper: ({ headers }, { path }) => {
      if (path === 'chapters.json') headers['Content-Type'] = 'text/html';
    },
  },
  {
    what: 'chapters that are an object',
    breaks: 'session-data.chapters',
    files: (files) => void files.set('chapters.json', Buffer.from('{"chapters":[]}')),
  },
  {
    what: 'a chapter without a start time',
    breaks: 'session-data.chapters',
    files: edit('chapters.json', '"start-time":5', '"start":5'),
  },
  {
    what: 'a chapter of no duration',
    breaks: 'session-data.chapters',
    files: edit('chapters.json', '"duration":9', '"duration":0'),
  },
  {
    what: 'a title without a language',
    breaks: 'session-data.chapters',
    files: edit('chapters.json', '"language":"und",', ''),
  },
  {
    what: 'two chapters that begin together',
    breaks: 'session-data.chapters',
    files: edit('chapters.json', '"start-time":5', '"start-time":0'),
  },
  {
    what: 'a chapter at the end of the video',
    breaks: 'session-data.chapters',
    files: edit('chapters.json', '"start-time":5', '"start-time":14'),
  },
  {
    what: 'captions without a header',
    breaks: 'captions.webvtt',
    files: edit('captions/1.vtt', 'WEBVTT', 'VTT'),
  },
  {
    what: 'captions without a map of timestamps',
    breaks: 'captions.webvtt',
    files: edit('captions/1.vtt', /X-TIMESTAMP-MAP.*\n/, ''),
  },
  {
    what: 'a cue with unreadable times',
    breaks: 'captions.webvtt',
    files: edit('captions/2.vtt', '.000 -->', ',000 -->'),
  },
  {
    what: 'captions that are mapped to a time 1.4 s before the first frame',
    breaks: 'captions.start',
    // The cue that crosses into this segment has another time in the segment before.
    also: ['captions.cues'],
    files: edit('captions/1.vtt', /MPEGTS:\d+/, 'MPEGTS:900000'),
  },
  {
    what: 'captions with fewer segments than video',
    breaks: 'captions.segments',
    files: edit('captions/index.m3u8', /#EXTINF.*\n2\.vtt\n/, ''),
  },
  {
    what: 'a cue that only its first segment has',
    breaks: 'captions.cues',
    files: edit('captions/1.vtt', /\n00:00:05[\s\S]*$/, ''),
  },
  {
    what: 'a cue that only its first segment has, in lines that end with CRLF',
    breaks: 'captions.cues',
    files: (files) => {
      edit('captions/0.vtt', /\n/g, '\r\n')(files);
      edit('captions/1.vtt', /\n00:00:05[\s\S]*$/, '')(files);
    },
  },
  {
    what: 'a segment of captions whose times count from 3 s after the first frame',
    breaks: 'captions.start',
    files: (files) => {
      edit('captions/1.vtt', /MPEGTS:\d+/, `MPEGTS:${FIRST_TIMESTAMP + 3 * 90_000}`)(files);
      edit('captions/1.vtt', '07.000 --> 00:00:08.000', '04.000 --> 00:00:05.000')(files);
      edit('captions/1.vtt', '05.000 --> 00:00:11.000', '02.000 --> 00:00:08.000')(files);
    },
  },
  {
    what: 'a cue in a segment before it is shown',
    breaks: 'captions.cues',
    files: edit('captions/0.vtt', /$/, '\n00:00:08.000 --> 00:00:09.000\nLater\n'),
  },
  {
    what: 'encrypted captions',
    breaks: 'captions.clear',
    files: edit('captions/index.m3u8', '#EXTINF', '#EXT-X-KEY:METHOD=AES-128,URI="../key"\n#EXTINF'),
  },
  {
    what: 'a missing segment of captions',
    breaks: 'playback.reachable',
    files: (files) => files.delete('captions/2.vtt'),
  },

  {
    what: 'a missing segment',
    breaks: 'playback.reachable',
    files: (files) => files.delete('180p/2.ts'),
  },
  {
    what: 'an incomplete response',
    breaks: 'playback.reachable',
    tamper: (response, { path }) => {
      if (path !== '180p/2.ts') return;
      response.headers['Content-Length'] = String(response.body.length + 1);
      response.headers.Connection = 'close';
    },
  },
  {
    what: 'a redirected segment',
    breaks: 'playback.no-redirects',
    files: (files) => files.set('elsewhere.ts', files.get('180p/2.ts') ?? Buffer.alloc(0)),
    tamper: (response, { path }) => {
      if (path === '180p/2.ts')
        Object.assign(response, {
          status: 302,
          headers: { ...response.headers, Location: '../elsewhere.ts' },
        });
    },
  },
  {
    what: 'segments with another Content-Type',
    breaks: 'playback.types',
    tamper: header(/180p.*\.ts$/, 'Content-Type', 'text/plain'),
  },
  {
    what: 'uncompressed playlists',
    breaks: 'playback.compressed-playlists',
    tamper: (response, request) => {
      if (!request.path.endsWith('.m3u8') || request.method !== 'GET') return;
      delete response.headers['Content-Encoding'];
      if (response.status === 200) response.body = plainPlaylist(response.body);
      response.headers['Content-Length'] = String(response.body.length);
    },
  },
  {
    what: 'a compressed key',
    breaks: 'playback.plain-segments',
    tamper: (response, { path, method }) => {
      if (path !== 'key' || method !== 'GET') return;
      response.body = gzipSync(response.body);
      response.headers['Content-Encoding'] = 'gzip';
      response.headers['Content-Length'] = String(response.body.length);
    },
  },
  {
    what: 'a key that caches can store',
    breaks: 'playback.caching',
    tamper: header(/key$/, 'Cache-Control', 'public, max-age=60'),
  },
  {
    what: 'segments that caches can store for a day only',
    breaks: 'playback.caching',
    tamper: header(/\.ts$/, 'Cache-Control', 'public, max-age=86400'),
  },
  {
    what: 'errors without Access-Control-Allow-Origin',
    breaks: 'playback.cross-origin',
    tamper: (response) => {
      if (response.status === 404) delete response.headers['Access-Control-Allow-Origin'];
    },
  },
  {
    what: 'a preflight that returns 405',
    breaks: 'playback.cross-origin',
    tamper: (response, { method }) => {
      if (method === 'OPTIONS') response.status = 405;
    },
  },
  {
    what: 'ignored ranges',
    breaks: 'playback.ranges',
    tamper: (response, { headers }) => {
      if (headers.range && response.status === 206) response.status = 200;
    },
  },
  {
    what: 'other bytes than requested',
    breaks: 'playback.ranges',
    tamper: (response) => {
      if (response.status === 206) response.body = Buffer.from(response.body).fill(0, 0, 1);
    },
  },
  {
    what: 'HEAD that returns 405',
    breaks: 'playback.head',
    tamper: (response, { method }) => {
      if (method === 'HEAD') response.status = 405;
    },
  },
  {
    what: 'ignored conditions',
    breaks: 'playback.not-modified',
    tamper: (response) => {
      if (response.status === 304) response.status = 200;
    },
  },
  {
    what: 'playlists without a validator',
    breaks: 'playback.not-modified',
    tamper: (response, { path }) => {
      if (path.endsWith('.m3u8')) delete response.headers.ETag;
    },
  },

  {
    what: 'a variant that only the API lists',
    breaks: 'service.variants',
    facts: { variants: ['90p', '180p', '360p'] },
  },
  {
    what: 'a stored segment that no playlist lists',
    breaks: 'service.stored-segments',
    facts: { storedSegments: ['90p/0.ts'] },
  },
];

export function edit(path: string, from: string | RegExp, to: string): (files: Files) => void {
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

export function onTrack(name: string, alter: (track: Track) => unknown): (media: Media) => void {
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

/** Writes into the first ADTS header of each PES packet that there is one channel. */
function makeMono(segment: Buffer): void {
  for (const packet of packetsOf(segment)) {
    if (pidOf(packet) !== PID.stream || !begins(packet)) continue;
    const pes = payloadAt(packet);
    const header = pes + 9 + packet.readUInt8(pes + 8);
    packet.writeUInt8((packet.readUInt8(header + 3) & 0x3f) | 0x40, header + 3);
  }
}

/** The offset of the second frame of a segment. */
function endOfFirstFrame(segment: Buffer): number {
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
  return (response, request) => {
    if (path.test(request.path) && name in response.headers) response.headers[name] = value;
  };
}

function plainPlaylist(body: Buffer): Buffer {
  return body[0] === 0x1f ? gunzipSync(body) : body;
}
