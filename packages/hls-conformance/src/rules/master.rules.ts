import { aacCodec } from '../media/adts.ts';
import { TICKS } from '../media/pes-packets.ts';
import {
  type Alternative,
  audioOf,
  type MasterPlaylist,
  type Variant,
  videoCodecOf,
} from '../playlists/master-playlist.ts';
import {
  isSoundAlone,
  isVideo,
  type LoadedSegment,
  type Presentation,
  type Rendition,
  renditionOf,
  shortAddress,
} from '../presentation.ts';
import {
  type Finding,
  judged,
  judgeEach,
  linePlace,
  notApplicable,
  type Rule,
  type Verdict,
} from '../rule.ts';
import { videoFrame, wholeVideos } from '../timeline.ts';

/** A variant whose first segment could be read, and its rendition. */
type ReadVariant = {
  variant: Variant;
  rendition: Rendition;
  master: MasterPlaylist;
  place: string;
  presentation: Presentation;
};

const NO_MASTER = 'there is no master playlist';
const CELLULAR_PEAK = 192_000;
const MILLISECOND_TICKS = TICKS / 1000;

/** Rules for the variants and alternatives of a master playlist. bandwidth.rules.ts compares their bit rates with measured ones. */
export const MASTER_RULES: readonly Rule[] = [
  {
    id: 'master.codecs',
    level: 'must',
    source: 'RFC 8216 §4.3.4.2; RFC 6381; Apple 9.1',
    sentence: 'CODECS names exactly what the first parameter sets and ADTS headers say.',
    check: everyReadVariant(codecFindings),
  },
  {
    id: 'master.resolution',
    level: 'must',
    source: 'RFC 8216 §4.3.4.2; Apple 9.2',
    sentence: 'RESOLUTION is the frame size in the parameter sets, after cropping.',
    check: everyReadVariant(({ variant, rendition, place }) => {
      const parameters = parametersOf(rendition);
      if (parameters === null) return [];
      const stated = variant.attributes.get('RESOLUTION')?.text;
      const size = `${parameters.width}x${parameters.height}`;
      return stated === size
        ? []
        : [{ place, message: `RESOLUTION is ${stated ?? 'missing'}, the frame size is ${size}` }];
    }),
  },
  {
    id: 'master.frame-rate',
    level: 'must',
    source: 'RFC 8216 §4.3.4.2; Apple 9.15',
    sentence:
      'FRAME-RATE has three decimals and is the frame rate of the video. If that varies, any value from the average to the highest rate is accepted.',
    check: everyReadVariant(frameRateFindings),
  },
  {
    id: 'master.closed-captions',
    level: 'own',
    source: 'RFC 8216 §4.3.4.2',
    sentence: 'All variants have CLOSED-CAPTIONS=NONE, so that players offer no closed captions.',
    check: everyVariant(({ attributes }, place) => {
      const stated = attributes.get('CLOSED-CAPTIONS')?.text;
      return stated === 'NONE' ? [] : [{ place, message: `CLOSED-CAPTIONS is ${stated ?? 'missing'}` }];
    }),
  },
  {
    id: 'master.independent-segments',
    level: 'must',
    source: 'Apple 9.11, 9.12',
    sentence:
      'EXT-X-INDEPENDENT-SEGMENTS is in the master playlist or in every video playlist, if segments begin with IDR frames.',
    check: independentSegments,
  },
  {
    id: 'master.groups',
    level: 'must',
    source: 'RFC 8216 §4.3.4.1, §4.3.4.2',
    sentence:
      'Groups that variants name exist, and groups of a type have the same members. In a group, names differ, renditions with AUTOSELECT differ in language or characteristics, and at most one is the default, which does not have AUTOSELECT=NO.',
    check: groupFindings,
  },
  {
    id: 'master.language',
    level: 'must',
    source: 'Apple 8.10',
    sentence: 'Every EXT-X-MEDIA for audio or text has a LANGUAGE.',
    check: everyAlternative(['AUDIO', 'SUBTITLES', 'CLOSED-CAPTIONS'], ({ attributes }, place) =>
      attributes.has('LANGUAGE')
        ? []
        : [{ place, message: 'has no LANGUAGE ("und" stands for an unknown one)' }],
    ),
  },
  {
    id: 'master.channels',
    level: 'must',
    source: 'RFC 8216 §4.3.4.1',
    sentence: 'CHANNELS of audio, if present, agrees with its ADTS headers.',
    check: everyAlternative(['AUDIO'], channelFindings),
  },
  {
    id: 'master.audio-attributes',
    level: 'own',
    source: 'RFC 8216 §4.3.4.1',
    sentence:
      'Audio renditions have DEFAULT, AUTOSELECT and CHANNELS. The first of each group is the default one.',
    check: everyAlternative(['AUDIO'], (alternative, place, { master }) => {
      const { attributes, groupId } = alternative;
      const first = master?.alternatives.find((other) => other.type === 'AUDIO' && other.groupId === groupId);
      const isDefault = attributes.get('DEFAULT')?.text === 'YES';
      return [
        ...(isDefault && alternative !== first ? ['is the default, but not the first of its group'] : []),
        ...(!isDefault && alternative === first ? ['is the first of its group, but not the default'] : []),
        ...['DEFAULT', 'AUTOSELECT', 'CHANNELS']
          .filter((name) => !attributes.has(name))
          .map((name) => `has no ${name}`),
      ].map((message) => ({ place, message }));
    }),
  },
  {
    id: 'master.i-frame-playlists',
    level: 'must',
    source: 'Apple 6.1',
    sentence: 'There are I-frame playlists, for scrubbing.',
    check: ({ master, url, renditions }) => {
      if (master === null) return notApplicable(NO_MASTER);
      if (isSoundAlone({ renditions })) return notApplicable('there is no video');
      const place = shortAddress(url, url);
      return judged(
        master.iFramePlaylists.length > 0 ? [] : [{ place, message: 'has no EXT-X-I-FRAME-STREAM-INF' }],
      );
    },
  },
  {
    id: 'master.cellular-variant',
    level: 'must',
    source: 'Apple 9.21',
    sentence: 'One variant has a peak of at most 192 kb/s, for cellular networks.',
    check: ({ master, url }) => {
      if (master === null) return notApplicable(NO_MASTER);
      if (master.variants.length === 0) return notApplicable('there are no variants');
      const rates = master.variants.map(({ attributes }) => Number(attributes.get('BANDWIDTH')?.text));
      const lowest = Math.min(...rates);
      const message = `the lowest BANDWIDTH is ${(lowest / 1000).toFixed(1)} kb/s`;
      return judged(lowest <= CELLULAR_PEAK ? [] : [{ place: shortAddress(url, url), message }]);
    },
  },
  {
    id: 'master.several-variants',
    level: 'must',
    source: 'Apple 9.9',
    sentence: 'The video has several variants of each codec.',
    check: ({ master, url }) => {
      if (master === null) return notApplicable(NO_MASTER);
      const place = shortAddress(url, url);
      if (master.variants.length === 0) return judged([{ place, message: 'has no variants' }]);
      const codecs = Map.groupBy(master.variants, (variant) => videoCodecOf(variant) ?? 'an unknown codec');
      return judged(
        [...codecs]
          .filter(([, variants]) => new Set(variants.map((variant) => variant.url)).size === 1)
          .map(([codec]) => ({ place, message: `has one variant of ${codec}` })),
      );
    },
  },
];

function everyVariant(find: (variant: Variant, place: string) => Finding[]): Rule['check'] {
  return ({ master, url }) =>
    judgeEach(master?.variants ?? [], master ? 'there are no variants' : NO_MASTER, (variant) =>
      find(variant, variantPlace(variant, url)),
    );
}

/** Judges the variants whose first segment could be read. */
function everyReadVariant(find: (read: ReadVariant) => Finding[]): Rule['check'] {
  return (presentation) => {
    const { master } = presentation;
    if (master === null) return notApplicable(NO_MASTER);
    const read = master.variants.flatMap((variant) => {
      const rendition = renditionOf(variant, presentation);
      const place = variantPlace(variant, presentation.url);
      return rendition?.segments[0]?.content ? [{ variant, rendition, master, place, presentation }] : [];
    });
    return judgeEach(read, 'no variant could be read', find);
  };
}

/** Judges alternatives of some types. */
function everyAlternative(
  types: readonly string[],
  find: (alternative: Alternative, place: string, presentation: Presentation) => Finding[],
): Rule['check'] {
  return (presentation) => {
    const { master, url } = presentation;
    const alternatives = master?.alternatives.filter(({ type }) => types.includes(type)) ?? [];
    return judgeEach(alternatives, master ? 'there are no such alternatives' : NO_MASTER, (alternative) =>
      find(alternative, linePlace(shortAddress(url, url), alternative), presentation),
    );
  };
}

function codecFindings({ variant, rendition, master, place, presentation }: ReadVariant): Finding[] {
  const stated = variant.attributes.get('CODECS')?.text;
  if (stated === undefined) return [{ place, message: 'has no CODECS' }];
  const alternatives = audioOf(variant, master).flatMap(
    ({ url }) => (url && renditionOf({ url }, presentation)) || [],
  );
  const contents = [rendition, ...alternatives].map(({ segments }) => segments[0]?.content);
  // CODECS of streams that are not read cannot be checked.
  if (contents.some((content) => !content || content.damage || content.otherStreamTypes.length > 0))
    return [];
  const parameters = contents.flatMap((content) => content?.video?.parameters ?? []);
  const unreadable = parameters.find((each) => typeof each === 'string');
  if (unreadable !== undefined)
    return [{ place, message: `the parameter set cannot be read: ${unreadable}` }];
  const named = stated.split(',').map(canonicalCodec);
  const video = parameters.flatMap((each) => (typeof each === 'string' ? [] : [each.names]));
  const audio = contents.flatMap((content) => content?.audio ?? []);
  const missing = [
    ...video.filter((names) => !names.some((name) => named.includes(canonicalCodec(name)))),
    ...audio
      .filter(({ config }) => !acceptableAac(config).some((codec) => named.includes(codec)))
      .map(({ config }) => aacCodec(config)),
  ];
  const known = [
    ...video.flat().map(canonicalCodec),
    ...audio.flatMap(({ config }) => acceptableAac(config)),
  ];
  const unexpected = named.filter((codec) => !known.includes(codec));
  if (missing.length === 0 && unexpected.length === 0) return [];
  const found = [...video.map(([name]) => name), ...audio.map(({ config }) => aacCodec(config))].join();
  return [
    { place, message: `CODECS is "${stated}", the streams are "${[...new Set(found.split(','))].join()}"` },
  ];
}

/** Hexadecimal digits may be upper case. */
function canonicalCodec(codec: string): string {
  const name = codec.trim();
  return /^(?:avc1|hvc1|hev1)\./i.test(name) ? name.toLowerCase() : name;
}

/** HE-AAC may be signalled as AAC-LC at half its sampling rate. The names of HE-AAC are right then, too. */
function acceptableAac(config: Parameters<typeof aacCodec>[0]): string[] {
  const hidden = config.objectType === 2 && config.sampleRate <= 24_000;
  return [aacCodec(config), ...(hidden ? ['mp4a.40.5', 'mp4a.40.29'] : [])];
}

function frameRateFindings({ variant, rendition, place }: ReadVariant): Finding[] {
  const averageStep = isVideo(rendition) ? videoFrame(rendition.segments) : null;
  const stated = variant.attributes.get('FRAME-RATE')?.text;
  if (isVideo(rendition) && stated === undefined) return [{ place, message: 'has no FRAME-RATE' }];
  if (averageStep === null || stated === undefined) return [];
  const { lowest, highest, measured } = frameRates(rendition.segments, averageStep);
  if (Number(stated) < lowest || Number(stated) > highest) {
    return [{ place, message: `FRAME-RATE is ${stated}, measured ${measured}` }];
  }
  return /^\d+\.\d{3}$/.test(stated)
    ? []
    : [{ place, message: `FRAME-RATE is ${stated}, without three decimals` }];
}

/** The values of FRAME-RATE that are accepted: from the average to the highest rate. They are equal if the frame rate is constant. */
function frameRates(segments: readonly LoadedSegment[], averageStep: number) {
  const videos = wholeVideos(segments);
  const shortest = Math.min(...videos.map(({ shortestStep }) => shortestStep ?? averageStep));
  const steps = videos.reduce((sum, { frames }) => sum + frames - 1, 0);
  const average = TICKS / averageStep;
  // Containers with times in milliseconds round to 90 ticks. That does not make the rate higher.
  const highest = averageStep - shortest <= MILLISECOND_TICKS ? average : TICKS / shortest;
  // FRAME-RATE has three decimals, and times are whole ticks.
  const uncertainty = 0.0005 + average * ((2 * videos.length) / (averageStep * steps));
  return {
    lowest: average - uncertainty,
    highest: highest + uncertainty,
    measured: highest === average ? average.toFixed(3) : `${average.toFixed(3)} to ${highest.toFixed(3)}`,
  };
}

function parametersOf({ segments }: Rendition) {
  const parameters = segments[0]?.content?.video?.parameters;
  return typeof parameters === 'object' ? parameters : null;
}

function independentSegments(presentation: Presentation): Verdict {
  const { master, renditions } = presentation;
  if (master === null) return notApplicable(NO_MASTER);
  const videos = renditions.filter(isVideo);
  const beginWithIdr = ({ segments }: Rendition) =>
    segments.every(({ content }) => content?.video?.opening.start?.isKey);
  if (videos.length === 0 || !videos.every(beginWithIdr))
    return notApplicable('not all segments begin with IDR frames');
  if (master.independentSegments) return judged([]);
  return judged(
    videos
      .filter(({ playlist }) => !playlist.independentSegments)
      .map(({ name }) => ({
        place: name,
        message: 'neither it nor the master playlist has EXT-X-INDEPENDENT-SEGMENTS',
      })),
  );
}

function groupFindings({ master, url }: Presentation): Verdict {
  if (master === null) return notApplicable(NO_MASTER);
  const findings = master.variants.flatMap((variant) =>
    ['AUDIO', 'VIDEO', 'SUBTITLES', 'CLOSED-CAPTIONS'].flatMap((type) => {
      const group = variant.attributes.get(type);
      if (!group?.quoted) return [];
      const exists = master.alternatives.some((each) => each.type === type && each.groupId === group.text);
      const message = `there is no EXT-X-MEDIA of type ${type} in the group "${group.text}"`;
      return exists ? [] : [{ place: variantPlace(variant, url), message }];
    }),
  );
  const groups = Map.groupBy(master.alternatives, ({ type, groupId }) => `${type} "${groupId}"`);
  for (const [group, members] of groups)
    findings.push(...memberFindings(group, members, shortAddress(url, url)));
  findings.push(...groupDifferences(master.alternatives, shortAddress(url, url)));
  const captions = master.variants.map(({ attributes }) => attributes.get('CLOSED-CAPTIONS')?.text);
  if (captions.includes('NONE') && captions.some((value) => value !== 'NONE')) {
    findings.push({
      place: shortAddress(url, url),
      message: 'some variants have CLOSED-CAPTIONS=NONE, but not all',
    });
  }
  return judged(findings);
}

function memberFindings(group: string, members: readonly Alternative[], playlist: string): Finding[] {
  const value = ({ attributes }: Alternative, name: string) => attributes.get(name)?.text;
  const findings: Finding[] = [];
  for (const [at, member] of members.entries()) {
    const place = linePlace(playlist, member);
    const before = members.slice(0, at);
    if (before.some((other) => value(other, 'NAME') === value(member, 'NAME'))) {
      findings.push({ place, message: `the group ${group} has the name "${value(member, 'NAME')}" twice` });
    }
    const isAutoselected = (each: Alternative) => value(each, 'AUTOSELECT') === 'YES';
    if (
      isAutoselected(member) &&
      before.some((other) => isAutoselected(other) && isSameChoice(other, member))
    ) {
      findings.push({ place, message: `players cannot choose between it and another one of ${group}` });
    }
    if (value(member, 'DEFAULT') !== 'YES') continue;
    if (before.some((other) => value(other, 'DEFAULT') === 'YES')) {
      findings.push({ place, message: `the group ${group} has a second default` });
    }
    if (value(member, 'AUTOSELECT') === 'NO')
      findings.push({ place, message: 'is the default with AUTOSELECT=NO' });
  }
  return findings;
}

/** Players choose a rendition by these attributes (RFC 8216 §4.3.4.1.1). */
function isSameChoice(one: Alternative, other: Alternative): boolean {
  return ['LANGUAGE', 'ASSOC-LANGUAGE', 'FORCED', 'CHARACTERISTICS'].every(
    (name) => one.attributes.get(name)?.text === other.attributes.get(name)?.text,
  );
}

/** Groups of one type that differ in their members: only URI and CHANNELS may differ (RFC 8216 §4.3.4.1.1). */
function groupDifferences(alternatives: readonly Alternative[], place: string): Finding[] {
  const shared = ({ attributes }: Alternative) =>
    [...attributes]
      .filter(([name]) => !['GROUP-ID', 'URI', 'CHANNELS'].includes(name))
      .map(([name, { text }]) => `${name}=${text}`)
      .sort()
      .join();
  const groups = Map.groupBy(alternatives, ({ type, groupId }) => `${type} "${groupId}"`);
  const contents = [...groups].map(([group, members]) => ({
    group,
    type: members[0]?.type,
    members: members.map(shared).sort().join('\n'),
  }));
  return contents.flatMap(({ group, type, members }, at) => {
    const first = contents.slice(0, at).find((other) => other.type === type);
    if (first === undefined || first.members === members) return [];
    return [{ place, message: `the groups ${first.group} and ${group} differ in their members` }];
  });
}

function channelFindings(
  { attributes, url }: Alternative,
  place: string,
  presentation: Presentation,
): Finding[] {
  const stated = attributes.get('CHANNELS')?.text.split('/')[0];
  const rendition = url === null ? undefined : renditionOf({ url }, presentation);
  const config = rendition?.segments[0]?.content?.audio?.config;
  // 0 means that the stream itself defines the number; 7 means eight channels.
  if (stated === undefined || config === undefined || config.channels === 0) return [];
  const channels = String(config.channels === 7 ? 8 : config.channels);
  return stated === channels
    ? []
    : [{ place, message: `CHANNELS is "${stated}", the stream has ${channels}` }];
}

function variantPlace(variant: Variant, presentationUrl: string): string {
  const name = shortAddress(presentationUrl, presentationUrl);
  return `${linePlace(name, variant)} (${shortAddress(variant.url, presentationUrl)})`;
}
