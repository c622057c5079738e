import { describe, expect, test } from '@jest/globals';
import { parse, setOptions, types } from 'hls-parser';
import { type RenditionFacts, renderMasterPlaylist } from './master-playlist.ts';

setOptions({ strictMode: true });

function videoRendition(
  name: RenditionFacts['name'],
  [width, height]: [number, number],
  [bandwidth, averageBandwidth]: [number, number],
): RenditionFacts {
  return {
    name,
    codecs: 'avc1.64001f',
    width,
    height,
    frameRate: 30000 / 1001,
    videoRange: null,
    channels: null,
    language: null,
    label: null,
    role: null,
    bandwidth,
    averageBandwidth,
  };
}

const low = videoRendition('360p', [640, 360], [900_000, 700_000]);
const standard = videoRendition('480p', [854, 480], [1_700_000, 1_300_000]);
const high = videoRendition('720p', [1280, 720], [3_000_000, 1_950_000]);
const full = videoRendition('1080p', [1920, 1080], [5_600_000, 4_400_000]);
const audio: RenditionFacts = {
  name: 'audio',
  codecs: 'mp4a.40.2',
  width: null,
  height: null,
  frameRate: null,
  videoRange: null,
  channels: 2,
  language: 'pt-BR',
  label: 'Audio',
  role: null,
  bandwidth: 140_000,
  averageBandwidth: 132_000,
};

function read(renditions: RenditionFacts[]) {
  const playlist = parse(renderMasterPlaylist(renditions));
  if (!(playlist instanceof types.MasterPlaylist)) throw new Error('Not a master playlist');
  return playlist;
}

test('video and audio renditions have all known attributes', () => {
  expect(renderMasterPlaylist([low, standard, audio])).toBe(`#EXTM3U
#EXT-X-VERSION:6
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",LANGUAGE="pt-BR",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio/index.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=1840000,AVERAGE-BANDWIDTH=1432000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=854x480,FRAME-RATE=29.970,AUDIO="audio",CLOSED-CAPTIONS=NONE
480p/index.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=1040000,AVERAGE-BANDWIDTH=832000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="audio",CLOSED-CAPTIONS=NONE
360p/index.m3u8
`);
});

test('the I-frames come last, with the token', () => {
  const iFrames = { ...videoRendition('iframes', [640, 360], [90_000, 70_000]), frameRate: null };
  expect(renderMasterPlaylist([iFrames, low, audio], 'secret').split('\n').at(-2)).toBe(
    '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,AVERAGE-BANDWIDTH=70000,CODECS="avc1.64001f",RESOLUTION=640x360,URI="iframes/index.m3u8?token=secret"',
  );
});

test('the rates of each video rendition include the audio', () => {
  const playlist = read([low, standard, high, audio]);
  expect(playlist.independentSegments).toBe(true);
  const found = playlist.variants.map(
    ({ uri, bandwidth, averageBandwidth, codecs, resolution, frameRate }) => ({
      uri,
      bandwidth,
      averageBandwidth,
      codecs,
      resolution,
      frameRate,
    }),
  );
  expect(found).toContainEqual({
    uri: '720p/index.m3u8',
    bandwidth: 3_140_000,
    averageBandwidth: 2_082_000,
    codecs: 'avc1.64001f,mp4a.40.2',
    resolution: { width: 1280, height: 720 },
    frameRate: 29.97,
  });
  for (const variant of playlist.variants) {
    expect(variant.audio).toHaveLength(1);
    expect(variant.audio[0]).toMatchObject({
      uri: 'audio/index.m3u8',
      groupId: 'audio',
      language: 'pt-BR',
      channels: '2',
      isDefault: true,
      autoselect: true,
    });
  }
});

test.each<[string, RenditionFacts[], string[]]>([
  ['the one nearest 2 Mb/s first', [low, standard, high, full, audio], ['720p', '360p', '480p', '1080p']],
  ['whatever order they come in', [full, audio, high, low, standard], ['720p', '360p', '480p', '1080p']],
  ['the only one', [low, audio], ['360p']],
  ['the highest of low ones', [low, standard], ['480p', '360p']],
  // Without audio 2.2 Mb/s would be nearest; with it 1.832 Mb/s is nearer than 2.332.
  [
    'audio included',
    [
      videoRendition('480p', [854, 480], [2_000_000, 1_700_000]),
      videoRendition('720p', [1280, 720], [3_000_000, 2_200_000]),
      audio,
    ],
    ['480p', '720p'],
  ],
])('renditions are listed lowest first, after the start rendition: %s', (_what, renditions, names) => {
  expect(read(renditions).variants.map(({ uri }) => uri)).toEqual(names.map((name) => `${name}/index.m3u8`));
});

test('each variant says its dynamic range if one is high', () => {
  const rangesOf = (renditions: RenditionFacts[]) =>
    [...renderMasterPlaylist(renditions).matchAll(/STREAM-INF:.*VIDEO-RANGE=(\w+)/g)].map(
      ([, range]) => range,
    );
  const keeping = { ...standard, name: '480p-hevc', videoRange: 'PQ' } as const;
  expect(rangesOf([low, standard, audio])).toEqual([]);
  expect(rangesOf([low, standard, keeping, audio])).toEqual(['SDR', 'SDR', 'PQ']);
});

test('each codec is a whole ladder with every group of audio, H.264 first', () => {
  const surround = { ...audio, name: 'surround', channels: 6 } as const;
  const others = (['av1', 'hevc'] as const).flatMap((codec) =>
    [low, standard].map((each) => ({ ...each, name: `${each.name}-${codec}` as never, codecs: codec })),
  );
  const { variants } = read([...others.toReversed(), low, surround, standard, audio]);
  expect(variants.map(({ uri, audio: [member] }) => `${uri.split('/')[0]} ${member?.groupId}`)).toEqual(
    ['', '-av1', '-hevc'].flatMap((suffix) =>
      ['audio', 'surround'].flatMap((group) => [`480p${suffix} ${group}`, `360p${suffix} ${group}`]),
    ),
  );
});

test('without audio there is no audio group', () => {
  const playlist = read([low]);
  expect(playlist.variants).toHaveLength(1);
  expect(playlist.variants[0]).toMatchObject({
    bandwidth: 900_000,
    averageBandwidth: 700_000,
    codecs: 'avc1.64001f',
  });
  expect(playlist.variants[0]?.audio).toEqual([]);
});

test.each<[string, string | null, string]>([
  ['canonical', 'pt-BR', 'pt-BR'],
  ['made canonical', 'eng', 'en'],
  ['unknown', null, 'und'],
  ['not a language tag', 'en",URI="https://evil.example/', 'und'],
])('the language of the audio: %s', (_what, language, expected) => {
  const [variant] = read([low, { ...audio, language }]).variants;
  expect(variant?.audio[0]).toMatchObject({ uri: 'audio/index.m3u8' });
  expect(variant?.audio[0]?.language).toBe(expected);
});

describe('several audio tracks', () => {
  const track = (name: RenditionFacts['name'], changes: Partial<RenditionFacts>): RenditionFacts => ({
    ...audio,
    name,
    ...changes,
  });
  const english = track('audio', { language: 'en', label: 'English' });
  const described = track('audio2', {
    language: 'en',
    label: 'English 2',
    role: 'audio_description',
    channels: 1,
    bandwidth: 70_000,
    averageBandwidth: 66_000,
  });
  const german = track('audio3', {
    language: 'de',
    label: 'Deutsch',
    bandwidth: 160_000,
    averageBandwidth: 150_000,
  });
  const dubbed = track('audio4', { language: 'de', label: "Fassung '2'" });
  const surround = track('surround3', { channels: 6, bandwidth: 340_000, averageBandwidth: 330_000 });

  test('are one group, and the rates of the video include the highest of them', () => {
    expect(renderMasterPlaylist([low, german, dubbed, described, english])).toBe(`#EXTM3U
#EXT-X-VERSION:6
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio/index.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="English 2",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,CHARACTERISTICS="public.accessibility.describes-video",CHANNELS="1",URI="audio2/index.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Deutsch",LANGUAGE="de",DEFAULT=NO,AUTOSELECT=YES,CHANNELS="2",URI="audio3/index.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Fassung '2'",LANGUAGE="de",DEFAULT=NO,AUTOSELECT=NO,CHANNELS="2",URI="audio4/index.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=1060000,AVERAGE-BANDWIDTH=850000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="audio",CLOSED-CAPTIONS=NONE
360p/index.m3u8
`);
  });

  test('with surround are also in a second group, which has its own variants', () => {
    const { variants } = read([low, standard, english, german, surround]);
    expect(
      variants.map(({ uri, bandwidth, audio: members }) => [
        ...[uri, bandwidth],
        members.map(({ groupId, name, channels, uri: from }) => [groupId, name, channels, from].join()),
      ]),
    ).toEqual([
      ...[
        ['480p/index.m3u8', 1_860_000],
        ['360p/index.m3u8', 1_060_000],
      ].map((variant) => [
        ...variant,
        ['audio,English,2,audio/index.m3u8', 'audio,Deutsch,2,audio3/index.m3u8'],
      ]),
      ...[
        ['480p/index.m3u8', 2_040_000],
        ['360p/index.m3u8', 1_240_000],
      ].map((variant) => [
        ...variant,
        ['surround,English,2,audio/index.m3u8', 'surround,Deutsch,6,surround3/index.m3u8'],
      ]),
    ]);
  });
});

test('sound alone has one variant for each group, without a resolution, with the highest rates of the group', () => {
  const german = { ...audio, name: 'audio2', label: 'Deutsch', language: 'de', bandwidth: 150_000 } as const;
  const surround = {
    ...audio,
    name: 'surround',
    channels: 6,
    bandwidth: 350_000,
    averageBandwidth: 330_000,
  } as const;
  expect(renderMasterPlaylist([audio, german])).toBe(`#EXTM3U
#EXT-X-VERSION:6
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",LANGUAGE="pt-BR",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio/index.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Deutsch",LANGUAGE="de",DEFAULT=NO,AUTOSELECT=YES,CHANNELS="2",URI="audio2/index.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=150000,AVERAGE-BANDWIDTH=132000,CODECS="mp4a.40.2",AUDIO="audio",CLOSED-CAPTIONS=NONE
audio/index.m3u8
`);
  const variants = read([audio, surround]).variants;
  expect(variants.map(({ uri, bandwidth }) => [uri, bandwidth])).toEqual([
    ['audio/index.m3u8', 140_000],
    ['surround/index.m3u8', 350_000],
  ]);
});
