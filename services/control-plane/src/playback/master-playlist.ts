import { AUDIO_RENDITION, RENDITIONS, type RenditionName } from '@framelane/contracts/renditions';
import { withToken } from './playback-token.ts';

/** What the master playlist says of a rendition. */
export type RenditionFacts = {
  name: RenditionName;
  /** RFC 6381. */
  codecs: string;
  /** Pixels and frames a second; null for audio. */
  width: number | null;
  height: number | null;
  frameRate: number | null;
  /** Null for video, and where the source names none. */
  channels: number | null;
  language: string | null;
  /** Measured peak and average, bits a second. */
  bandwidth: number;
  averageBandwidth: number;
};

const AUDIO_GROUP = 'audio';

/** Sound has to have a LANGUAGE (HLS authoring specification 8.10); this one means that nobody knows (RFC 5646 §4.1). */
const UNKNOWN_LANGUAGE = 'und';

/** The average bit rate of the rung to begin with, bits a second (HLS authoring specification 1.32). */
const FIRST_RUNG_RATE = 2_000_000;

/**
 * The master playlist of a video (RFC 8216 §4.3.4). The renditions may come in any order. A token, where players need one,
 * goes along with every address.
 */
export function renderMasterPlaylist(renditions: readonly RenditionFacts[], token?: string): string {
  const audio = renditions.find(({ name }) => name === AUDIO_RENDITION);
  const rungs = renditions
    .filter((rendition) => rendition !== audio)
    .toSorted((a, b) => RENDITIONS.indexOf(a.name) - RENDITIONS.indexOf(b.name))
    .map((rung) => (audio === undefined ? rung : withAudio(rung, audio)));
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...(audio === undefined ? [] : [mediaTag(audio, token)]),
    ...firstRungFirst(rungs).flatMap((rung) => [streamTag(rung, audio !== undefined), uriOf(rung, token)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** A rung as it is played: with the sound, whose rates and codec it includes. */
function withAudio(rung: RenditionFacts, audio: RenditionFacts): RenditionFacts {
  return {
    ...rung,
    codecs: `${rung.codecs},${audio.codecs}`,
    bandwidth: rung.bandwidth + audio.bandwidth,
    averageBandwidth: rung.averageBandwidth + audio.averageBandwidth,
  };
}

/** Players begin with the first rung they find. */
function firstRungFirst(rungs: readonly RenditionFacts[]): RenditionFacts[] {
  const distance = (rung: RenditionFacts) => Math.abs(rung.averageBandwidth - FIRST_RUNG_RATE);
  const first = rungs.toSorted((a, b) => distance(a) - distance(b)).slice(0, 1);
  return [...first, ...rungs.filter((rung) => !first.includes(rung))];
}

function mediaTag(audio: RenditionFacts, token: string | undefined): string {
  return `#EXT-X-MEDIA:${attributes({
    TYPE: 'AUDIO',
    'GROUP-ID': quoted(AUDIO_GROUP),
    NAME: quoted('Audio'),
    LANGUAGE: quoted(canonicalLanguage(audio.language ?? UNKNOWN_LANGUAGE)),
    DEFAULT: 'YES',
    AUTOSELECT: 'YES',
    CHANNELS: audio.channels === null ? undefined : quoted(String(audio.channels)),
    URI: quoted(uriOf(audio, token)),
  })}`;
}

function streamTag(rung: RenditionFacts, hasAudio: boolean): string {
  const { bandwidth, averageBandwidth, codecs, width, height, frameRate } = rung;
  return `#EXT-X-STREAM-INF:${attributes({
    BANDWIDTH: String(bandwidth),
    'AVERAGE-BANDWIDTH': String(averageBandwidth),
    CODECS: quoted(codecs),
    RESOLUTION: width === null || height === null ? undefined : `${width}x${height}`,
    'FRAME-RATE': frameRate?.toFixed(3),
    AUDIO: hasAudio ? quoted(AUDIO_GROUP) : undefined,
    'CLOSED-CAPTIONS': 'NONE',
  })}`;
}

function uriOf({ name }: RenditionFacts, token: string | undefined): string {
  return withToken(`${name}/index.m3u8`, token);
}

/** An attribute list (RFC 8216 §4.2) of what is known. */
function attributes(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

function quoted(text: string): string {
  return `"${text}"`;
}

/** The canonical form of a BCP 47 tag. The tag comes out of an uploaded file; one that is malformed is unknown. */
function canonicalLanguage(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag).at(0) ?? UNKNOWN_LANGUAGE;
  } catch {
    return UNKNOWN_LANGUAGE;
  }
}
