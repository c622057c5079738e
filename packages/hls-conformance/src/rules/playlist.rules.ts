import { readAttributeList } from '../playlists/attribute-list.ts';
import { isMasterTag } from '../playlists/master-playlist.ts';
import { isMediaTag } from '../playlists/media-playlist.ts';
import { isTag, type PlaylistLine, type Tag } from '../playlists/playlist-text.ts';
import { type PlaylistFile, playlistFiles, shortAddress } from '../presentation.ts';
import { type Finding, judged, linePlace, type Rule } from '../rule.ts';

const ONCE_ONLY = new Set([
  ...[
    'EXTM3U',
    'EXT-X-VERSION',
    'EXT-X-TARGETDURATION',
    'EXT-X-MEDIA-SEQUENCE',
    'EXT-X-DISCONTINUITY-SEQUENCE',
  ],
  ...[
    'EXT-X-ENDLIST',
    'EXT-X-PLAYLIST-TYPE',
    'EXT-X-I-FRAMES-ONLY',
    'EXT-X-INDEPENDENT-SEGMENTS',
    'EXT-X-START',
  ],
]);

const WITH_ATTRIBUTES =
  /^EXT-X-(KEY|MAP|DATERANGE|MEDIA|STREAM-INF|I-FRAME-STREAM-INF|SESSION-DATA|SESSION-KEY|START)$/;

/** Required attributes of tags (RFC 8216 §4.3). */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'EXT-X-KEY': ['METHOD'],
  'EXT-X-MAP': ['URI'],
  'EXT-X-DATERANGE': ['ID', 'START-DATE'],
  'EXT-X-MEDIA': ['TYPE', 'GROUP-ID', 'NAME'],
  'EXT-X-STREAM-INF': ['BANDWIDTH'],
  'EXT-X-I-FRAME-STREAM-INF': ['BANDWIDTH', 'URI'],
  'EXT-X-SESSION-DATA': ['DATA-ID'],
  'EXT-X-SESSION-KEY': ['METHOD', 'URI'],
  'EXT-X-START': ['TIME-OFFSET'],
};

/** Tags whose value has a fixed form (RFC 8216 §4.3). */
const VALUES: Readonly<Record<string, RegExp>> = {
  EXTINF: /^\d+(\.\d+)?(,.*)?$/,
  'EXT-X-VERSION': /^\d+$/,
  'EXT-X-TARGETDURATION': /^\d+$/,
  'EXT-X-MEDIA-SEQUENCE': /^\d+$/,
  'EXT-X-DISCONTINUITY-SEQUENCE': /^\d+$/,
  'EXT-X-PLAYLIST-TYPE': /^(VOD|EVENT)$/,
  'EXT-X-BYTERANGE': /^\d+(@\d+)?$/,
};

/** Rules for the text of every playlist. */
export const PLAYLIST_RULES: readonly Rule[] = [
  {
    id: 'playlist.text',
    level: 'must',
    source: 'RFC 8216 §4.1',
    sentence: 'Playlists are UTF-8 without a byte order mark and without control characters.',
    check: everyPlaylist(({ violations }, name) => violations.map((message) => ({ place: name, message }))),
  },
  {
    id: 'playlist.first-line',
    level: 'must',
    source: 'RFC 8216 §4.3.1.1',
    sentence: 'The first line of a playlist is #EXTM3U.',
    check: everyPlaylist(({ firstLine }, name) =>
      firstLine === '#EXTM3U'
        ? []
        : [{ place: `${name}, line 1`, message: `is "${firstLine.slice(0, 40)}"` }],
    ),
  },
  {
    id: 'playlist.attributes',
    level: 'must',
    source: 'RFC 8216 §4.2, §4.3',
    sentence:
      'Attribute lists follow the grammar, have no duplicate names, and have the attributes that their tag requires.',
    check: everyPlaylist(({ lines }, name) =>
      lines.filter(isTag).flatMap((tag) => attributeFindings(tag, name)),
    ),
  },
  {
    id: 'playlist.tags-once',
    level: 'must',
    source: 'RFC 8216 §4.3.1.2, §4.3.3, §4.3.5',
    sentence: 'No tag that is allowed once appears twice.',
    check: everyPlaylist(({ lines }, name) => repeatedTags(lines.filter(isTag), name)),
  },
  {
    id: 'playlist.structure',
    level: 'must',
    source: 'RFC 8216 §4.3',
    sentence:
      'Tag values are valid, every URI is valid and has its tag, and no playlist has tags of both master and media playlists.',
    check: everyPlaylist(structureFindings),
  },
  {
    id: 'playlist.version',
    level: 'must',
    source: 'RFC 8216 §7',
    sentence: 'EXT-X-VERSION is at least what the features in use require.',
    check: everyPlaylist(versionFindings),
  },
];

function everyPlaylist(find: (file: PlaylistFile, name: string) => Finding[]): Rule['check'] {
  return (presentation) =>
    judged(
      playlistFiles(presentation).flatMap((file) => find(file, shortAddress(file.url, presentation.url))),
    );
}

function attributeFindings(tag: Tag, playlist: string): Finding[] {
  if (!WITH_ATTRIBUTES.test(tag.name)) return [];
  const { attributes, violations } = readAttributeList(tag.value ?? '');
  const required = REQUIRED[tag.name] ?? [];
  const needsUri = tag.name === 'EXT-X-KEY' && attributes.get('METHOD')?.text !== 'NONE';
  const missing = [...required, ...(needsUri ? ['URI'] : [])].filter((name) => !attributes.has(name));
  return [...violations, ...missing.map((name) => `has no ${name}`)].map((violation) => ({
    place: linePlace(playlist, tag),
    message: `${tag.name} ${violation}`,
  }));
}

function repeatedTags(tags: readonly Tag[], playlist: string): Finding[] {
  return tags
    .filter(({ name }, at) => ONCE_ONLY.has(name) && tags.findIndex((tag) => tag.name === name) < at)
    .map((tag) => ({ place: linePlace(playlist, tag), message: `has ${tag.name} again` }));
}

function structureFindings(file: PlaylistFile, name: string): Finding[] {
  const tags = file.lines.filter(isTag);
  const isMaster = tags.some(isMasterTag);
  const lacksTarget = !isMaster && !tags.some((tag) => tag.name === 'EXT-X-TARGETDURATION');
  return [
    ...tags.flatMap((tag) => tagFindings(tag, isMaster, name)),
    ...addressFindings(file, isMaster, name),
    ...(lacksTarget ? [{ place: name, message: 'has no EXT-X-TARGETDURATION' }] : []),
  ];
}

function tagFindings(tag: Tag, isMaster: boolean, playlist: string): Finding[] {
  const form = VALUES[tag.name];
  const messages = [
    ...(form && !form.test(tag.value ?? '') ? [`${tag.name} cannot be read: "${tag.value ?? ''}"`] : []),
    ...(isMaster && isMediaTag(tag) ? [`${tag.name} stands in a master playlist`] : []),
  ];
  return messages.map((message) => ({ place: linePlace(playlist, tag), message }));
}

/** Each URI is valid, and follows its own EXTINF, or directly its own EXT-X-STREAM-INF. */
function addressFindings({ lines, url }: PlaylistFile, isMaster: boolean, playlist: string): Finding[] {
  const introduction = isMaster ? 'EXT-X-STREAM-INF' : 'EXTINF';
  const introduces = (line: PlaylistLine) => isTag(line) && line.name === introduction;
  // In a media playlist other tags may be between the two, in a master playlist they may not.
  const partners = isMaster ? lines : lines.filter((line) => !isTag(line) || introduces(line));
  return partners.flatMap((line, at) => {
    const before = partners[at - 1];
    const after = partners[at + 1];
    const place = linePlace(playlist, line);
    if (isTag(line)) {
      const alone = introduces(line) && (after === undefined || isTag(after));
      return alone ? [{ place, message: `${introduction} is not followed by a URI` }] : [];
    }
    return [
      ...(before && introduces(before) ? [] : [{ place, message: `a URI without ${introduction}` }]),
      ...(/\s/.test(line.uri) || !URL.canParse(line.uri, url)
        ? [{ place, message: `"${line.uri}" is not a valid URI` }]
        : []),
    ];
  });
}

function versionFindings({ lines }: PlaylistFile, name: string): Finding[] {
  const tags = lines.filter(isTag);
  const stated = Number(tags.find((tag) => tag.name === 'EXT-X-VERSION')?.value ?? '1');
  // The rule playlist.structure reports a version that is not a number.
  if (Number.isNaN(stated)) return [];
  const findings: Finding[] = [];
  let highest = stated;
  for (const tag of tags) {
    const { version, feature } = requirement(tag, tags);
    // One finding for each required version is enough.
    if (version <= highest) continue;
    highest = version;
    findings.push({
      place: linePlace(name, tag),
      message: `${feature} needs version ${version}, the playlist has ${stated}`,
    });
  }
  return findings;
}

/** The protocol version that a tag needs (RFC 8216 §7). */
function requirement(tag: Tag, all: readonly Tag[]): { version: number; feature: string } {
  const has = (attribute: string) => readAttributeList(tag.value ?? '').attributes.has(attribute);
  const none = { version: 1, feature: '' };
  switch (tag.name) {
    case 'EXTINF':
      return /^\d+\./.test(tag.value ?? '') ? { version: 3, feature: 'a fraction in EXTINF' } : none;
    case 'EXT-X-BYTERANGE':
    case 'EXT-X-I-FRAMES-ONLY':
      return { version: 4, feature: tag.name };
    case 'EXT-X-KEY':
      if (has('KEYFORMAT') || has('KEYFORMATVERSIONS')) return { version: 5, feature: 'KEYFORMAT' };
      return has('IV') ? { version: 2, feature: 'IV' } : none;
    case 'EXT-X-MAP':
      return all.some(({ name }) => name === 'EXT-X-I-FRAMES-ONLY')
        ? { version: 5, feature: tag.name }
        : { version: 6, feature: tag.name };
    case 'EXT-X-MEDIA':
      return /INSTREAM-ID="SERVICE/.test(tag.value ?? '')
        ? { version: 7, feature: 'SERVICE in INSTREAM-ID' }
        : none;
    default:
      return none;
  }
}
