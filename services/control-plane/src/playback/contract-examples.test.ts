import { RENDITIONS, RUNGS } from '@framelane/contracts/renditions';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { expect, test } from '@jest/globals';
import { renderCaptionsPlaylist, renderCaptionsSegment } from './captions-playlist.ts';
import { type RenditionFacts, renderMasterPlaylist } from './master-playlist.ts';
import { renderMediaPlaylist } from './media-playlist.ts';
import { renderStoryboard } from './storyboard.ts';

type Content = Record<string, { example?: string }>;
type Paths = Record<string, { get: { responses: Record<string, { content: Content }> } }>;

/** The example of a response body in the contract. */
function exampleOf(path: string, type: string): string | undefined {
  const { paths } = readOpenApiDocument() as { paths: Paths };
  return paths[`/hls/{tenant}/{video}/${path}`]?.get.responses[200]?.content[type]?.example;
}

const PLAYLIST = 'application/vnd.apple.mpegurl';
const VIDEO_ONLY = {
  channels: null,
  language: null,
  label: null,
  role: null,
  frameRate: 25,
  videoRange: null,
};

const FACTS: RenditionFacts[] = [
  {
    name: '480p',
    codecs: 'avc1.64001f',
    width: 854,
    height: 480,
    ...VIDEO_ONLY,
    bandwidth: 1_562_844,
    averageBandwidth: 1_287_037,
  },
  {
    name: '360p',
    codecs: 'avc1.64001e',
    width: 640,
    height: 360,
    ...VIDEO_ONLY,
    bandwidth: 909_188,
    averageBandwidth: 761_316,
  },
  {
    name: 'audio',
    codecs: 'mp4a.40.2',
    width: null,
    height: null,
    frameRate: null,
    videoRange: null,
    channels: 2,
    language: 'en',
    label: 'English',
    role: null,
    bandwidth: 140_000,
    averageBandwidth: 132_000,
  },
];

const CUES = [
  '00:00:01.000 --> 00:00:03.500\nSummer begins here.\n',
  '00:00:04.000 --> 00:00:06.250\n<v Ada>And never ends.</v>\n',
];

const STORYBOARD = { bytes: 9000, width: 160, height: 90, columns: 2, tiles: 2, interval: 1 };

test.each([
  ['master playlist', exampleOf('master.m3u8', PLAYLIST), renderMasterPlaylist(FACTS)],
  [
    'master playlist without pictures',
    exampleOf('audio.m3u8', PLAYLIST),
    renderMasterPlaylist(FACTS.filter(({ name }) => name === 'audio')),
  ],
  [
    'media playlist',
    exampleOf('{rendition}/index.m3u8', PLAYLIST),
    renderMediaPlaylist({ packaging: 'ts', durations: [6, 4.48], targetDuration: 6 }),
  ],
  [
    'playlist of captions',
    exampleOf('captions/{language}/{revision}/index.m3u8', PLAYLIST),
    renderCaptionsPlaylist({ durations: [6, 4.48], targetDuration: 6 }, undefined),
  ],
  [
    'segment of captions',
    exampleOf('captions/{language}/{revision}/{sequence}.vtt', 'text/vtt'),
    renderCaptionsSegment(CUES.join('\n'), 1_026_000),
  ],
  ['storyboard', exampleOf('storyboard.vtt', 'text/vtt'), renderStoryboard(STORYBOARD, 2, undefined)],
])('the example of a %s in the contract equals the rendered one', (_, example, rendered) => {
  expect(example).toBe(rendered);
});

test('the contract has the names of all renditions and rungs', () => {
  type Schemas = { components: { schemas: Record<'Rendition' | 'Variant', { enum: string[] }> } };
  const { Rendition, Variant } = (readOpenApiDocument() as Schemas).components.schemas;
  expect(new Set(Rendition.enum)).toEqual(new Set(RENDITIONS));
  expect(Variant.enum).toEqual(RUNGS);
});
