import { rangeOf, type VideoSyntax } from '../media/video-syntax.ts';
import { type MasterPlaylist, type Variant, videoCodecOf } from '../playlists/master-playlist.ts';
import { type Presentation, type Rendition, renditionOf, shortAddress } from '../presentation.ts';
import {
  type Finding,
  judged,
  judgeEach,
  linePlace,
  notApplicable,
  type Rule,
  segmentPlace,
  type Verdict,
} from '../rule.ts';

/** A codec and its dynamic range: players change within such a ladder. */
type Ladder = { name: string; variants: Variant[] };

const NO_MASTER = 'there is no master playlist';
const NO_FRAGMENTS = 'no video in fragmented MP4 could be read';
/** The type of HEVC in a program map table (ISO/IEC 13818-1 table 2-34). */
const HEVC_STREAM_TYPE = 0x24;
/** Sample entries whose parameter sets are in samples, and those that should be used instead. */
const IN_SAMPLES: Readonly<Record<string, string>> = { avc3: 'avc1', hev1: 'hvc1' };

/** Rules for codecs beside H.264, and for several codecs of one video. */
export const CODEC_RULES: readonly Rule[] = [
  {
    id: 'codecs.container',
    level: 'must',
    source: 'Apple 1.5, 1.39',
    sentence: 'HEVC and AV1 are in fragmented MP4.',
    check: containerFindings,
  },
  {
    id: 'codecs.sample-entry',
    level: 'should',
    source: 'Apple 1.10',
    sentence: 'H.264 and HEVC have their parameter sets in the initialization section (avc1, hvc1).',
    check: everyFragmentedVideo(({ entry }) => {
      const better = IN_SAMPLES[entry];
      return better === undefined ? [] : [`its sample entry is ${entry}, not ${better}`];
    }),
  },
  {
    id: 'codecs.parameter-sets',
    level: 'must',
    source: 'ISO/IEC 14496-15 §5.3.3.1.1, §8.3.3.1.1',
    sentence: 'With avc1 and hvc1, frames have no other parameter sets than the initialization section.',
    check: everyFragmentedVideo(({ entry, frames }) =>
      frames > 0 && ['avc1', 'hvc1'].includes(entry)
        ? [`${frames} frames have parameter sets that the initialization section does not have`]
        : [],
    ),
  },
  {
    id: 'codecs.sequence-header',
    level: 'own',
    source: 'AV1 in ISOBMFF §2.3.4',
    sentence:
      'The initialization section of AV1 has the sequence header of its frames: a device may read no other one.',
    check: everyFragmentedVideo(({ entry, frames }) =>
      frames > 0 && entry === 'av01'
        ? [`${frames} frames have a sequence header that the initialization section does not have`]
        : [],
    ),
  },
  {
    id: 'codecs.messages',
    level: 'own',
    source: 'ISO/IEC 23008-2 annex D; AV1 §5.8',
    sentence:
      'Frames of HEVC and AV1 have no messages (SEI, metadata) but the transfer function of HLG: those of a file can say anything about who made it, and where.',
    check: everyFragmentedVideo(({ messages }) => (messages > 0 ? [`${messages} frames have messages`] : [])),
  },
  {
    id: 'codecs.h264',
    level: 'should',
    source: 'Apple 1.12',
    sentence: 'Beside HEVC and AV1 there is H.264, for devices that decode nothing else.',
    check: everyMaster((master, place) => {
      const codecs = new Set(master.variants.map(videoCodecOf));
      if (!codecs.has('HEVC') && !codecs.has('AV1')) return notApplicable('there is no HEVC or AV1');
      return judged(codecs.has('H.264') ? [] : [{ place, message: 'has no variant of H.264' }]);
    }),
  },
  {
    id: 'codecs.sdr',
    level: 'must',
    source: 'Apple 1.24',
    sentence: 'Beside HDR there is SDR.',
    check: everyMaster((master, place) => {
      const ranges = new Set(master.variants.map(statedRange));
      if (!ranges.has('PQ') && !ranges.has('HLG')) return notApplicable('there is no HDR');
      return judged(ranges.has('SDR') ? [] : [{ place, message: 'has no variant in SDR' }]);
    }),
  },
  {
    id: 'codecs.video-range',
    level: 'must',
    source: 'Apple 9.16; draft-pantos-hls-rfc8216bis §4.4.6.2',
    sentence:
      'VIDEO-RANGE agrees with the transfer function of the video. It may be missing if all video is SDR.',
    check: rangeFindings,
  },
  {
    id: 'codecs.ladders',
    level: 'should',
    source: 'Apple 1.23',
    sentence:
      'Each codec has the same frame sizes, each with the same groups of audio and subtitles, so that no player needs to change the codec.',
    check: everyMaster(ladderFindings),
  },
  {
    id: 'codecs.score',
    level: 'must',
    source: 'Apple 9.19',
    sentence: 'Either all variants have a SCORE or none.',
    check: everyMaster(({ variants }, place) => {
      const without = variants.filter(({ attributes }) => !attributes.has('SCORE'));
      if (without.length === variants.length) return notApplicable('no variant has a SCORE');
      return judged(
        without.map((variant) => ({ place: linePlace(place, variant), message: 'has no SCORE' })),
      );
    }),
  },
];

function everyMaster(check: (master: MasterPlaylist, place: string) => Verdict): Rule['check'] {
  return ({ master, url }) => {
    if (master === null) return notApplicable(NO_MASTER);
    if (master.variants.length === 0) return notApplicable('there are no variants');
    return check(master, shortAddress(url, url));
  };
}

/** Judges the segments of fragmented MP4 with video: the type of their sample entry, and the numbers of frames with other parameter sets and with messages. */
function everyFragmentedVideo(
  violations: (video: { entry: string; frames: number; messages: number }) => string[],
): Rule['check'] {
  return ({ renditions, iFrames }) => {
    const videos = [...renditions, ...iFrames].flatMap(({ name, segments }) =>
      segments.flatMap((segment) => {
        const entry = segment.content?.fragments?.videoEntry;
        const frames = segment.content?.video?.framesWithOtherSets ?? 0;
        const messages = segment.content?.video?.framesWithMessages ?? 0;
        return entry ? [{ place: segmentPlace(name, segment), entry, frames, messages }] : [];
      }),
    );
    return judgeEach(videos, NO_FRAGMENTS, ({ place, ...video }) =>
      violations(video).map((message) => ({ place, message })),
    );
  };
}

/** In a transport stream, AV1 is private data: only CODECS tells. */
function containerFindings({ master, renditions }: Presentation): Verdict {
  const stated = (rendition: Rendition) =>
    master?.variants.filter(({ url }) => url === rendition.url).map(videoCodecOf) ?? [];
  const found = renditions.flatMap((rendition) => {
    const contents = rendition.segments.flatMap(({ content }) => content ?? []);
    const isHevc = contents.some(({ otherStreamTypes }) => otherStreamTypes.includes(HEVC_STREAM_TYPE));
    const codecs: (VideoSyntax['name'] | null)[] = [
      ...contents.flatMap(({ video }) => video?.codec ?? []),
      ...stated(rendition),
      ...(isHevc ? (['HEVC'] as const) : []),
    ];
    const codec = codecs.find((each) => each === 'HEVC' || each === 'AV1');
    const isTransport = contents.some(({ transport }) => transport !== null);
    return codec ? [{ place: rendition.name, codec, isTransport }] : [];
  });
  return judgeEach(found, 'there is no HEVC or AV1', ({ place, codec, isTransport }) =>
    isTransport ? [{ place, message: `has ${codec} in a transport stream` }] : [],
  );
}

function statedRange({ attributes }: Variant): string {
  return attributes.get('VIDEO-RANGE')?.text ?? 'SDR';
}

function rangeFindings(presentation: Presentation): Verdict {
  const { master, url } = presentation;
  if (master === null) return notApplicable(NO_MASTER);
  const read = master.variants.flatMap((variant) => {
    const parameters = renditionOf(variant, presentation)?.segments[0]?.content?.video?.parameters;
    return typeof parameters === 'object' && parameters
      ? [{ variant, range: rangeOf(parameters.colours) }]
      : [];
  });
  const isHdr = read.some(({ range }) => range !== 'SDR');
  return judgeEach(read, 'no parameter set could be read', ({ variant, range }) => {
    const stated = variant.attributes.get('VIDEO-RANGE')?.text;
    if (stated === range || (stated === undefined && !isHdr)) return [];
    const place = linePlace(shortAddress(url, url), variant);
    return [{ place, message: `VIDEO-RANGE is ${stated ?? 'missing'}, the video is ${range}` }];
  });
}

function ladderFindings({ variants }: MasterPlaylist, place: string): Verdict {
  const ladders = laddersOf(variants);
  if (ladders.length < 2) return notApplicable('there are fewer than two codecs or dynamic ranges');
  const all = new Set(ladders.flatMap((ladder) => ladder.variants.map(rungOf)));
  return judged(ladders.flatMap((ladder) => missingRungs(ladder, all, place)));
}

function laddersOf(variants: readonly Variant[]): Ladder[] {
  const videos = variants.filter((variant) => videoCodecOf(variant) !== null);
  const ladders = Map.groupBy(videos, (variant) => `${videoCodecOf(variant)} in ${statedRange(variant)}`);
  return [...ladders].map(([name, members]) => ({ name, variants: members }));
}

function missingRungs({ name, variants }: Ladder, all: ReadonlySet<string>, place: string): Finding[] {
  const own = new Set(variants.map(rungOf));
  return [...all]
    .filter((rung) => !own.has(rung))
    .map((rung) => ({ place, message: `${name} has no variant with ${rung}` }));
}

/** What a player keeps when it changes to another codec. */
function rungOf({ attributes }: Variant): string {
  return ['RESOLUTION', 'AUDIO', 'SUBTITLES']
    .map((name) => `${name}=${attributes.get(name)?.text ?? 'none'}`)
    .join(' ');
}
