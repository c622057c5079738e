import { webVttFile } from '@framelane/captions/write-webvtt';
import { attributes, quoted } from './attribute-list.ts';
import { renderSegments, type SegmentDurations } from './media-playlist.ts';
import { withToken } from './playback-token.ts';

/** Captions as the master playlist describes them. */
export type CaptionsFacts = { language: string; label: string; isDefault: boolean; revision: number };

/** The group of all captions. */
export const CAPTIONS_GROUP = 'captions';

/**
 * The tags of captions in the master playlist (RFC 8216 §4.3.4.1). Players may choose one by the language of the viewer, and
 * show the default one to viewers who have not chosen.
 */
export function captionsTags(captions: readonly CaptionsFacts[], token: string | undefined): string[] {
  const names = new Set<string>();
  return captions.map((each) => {
    const { language, label, isDefault, revision } = each;
    const name = unusedName(label, language, names);
    names.add(name);
    const tag = attributes({
      TYPE: 'SUBTITLES',
      'GROUP-ID': quoted(CAPTIONS_GROUP),
      NAME: name,
      LANGUAGE: quoted(publicLanguage(language)),
      DEFAULT: isDefault ? 'YES' : 'NO',
      AUTOSELECT: isAutoselected(each, captions) ? 'YES' : 'NO',
      FORCED: 'NO',
      URI: quoted(withToken(`captions/${language}/${revision}/index.m3u8`, token)),
    });
    return `#EXT-X-MEDIA:${tag}`;
  });
}

/** Private subtags distinguish captions of the same language. Players do not know them. */
function publicLanguage(language: string): string {
  return language.split('-x-', 1)[0] ?? language;
}

/**
 * Whether players may choose the captions if the viewer has not chosen any (AUTOSELECT). They choose by language, so only one of
 * each language has it (RFC 8216 §4.3.4.1.1): the default one or, without a default, the first.
 */
function isAutoselected(captions: CaptionsFacts, all: readonly CaptionsFacts[]): boolean {
  const language = publicLanguage(captions.language);
  const same = all.filter((each) => publicLanguage(each.language) === language);
  return captions === (same.find(({ isDefault }) => isDefault) ?? same[0]);
}

/** The label as a quoted string. The names of a group must differ (RFC 8216 §4.3.4.1.1). */
function unusedName(label: string, language: string, used: ReadonlySet<string>): string {
  let name = label;
  while (used.has(quoted(name))) name = `${name} (${language})`;
  return quoted(name);
}

/** The media playlist of captions. Its segments are as long as those of the video. They are not encrypted, so each URL has the token. */
export function renderCaptionsPlaylist(segments: SegmentDurations, token: string | undefined): string {
  return renderSegments(segments, { uriOf: (sequence) => withToken(`${sequence}.vtt`, token) });
}

/**
 * A segment of captions (RFC 8216 §3.5). `cues` are those of the segment, joined as in a WebVTT file. The times of cues count from the first frame, whose timestamp in the video segments is
 * `startTimestamp`, in units of 1/90,000 s. The segment ends with a blank line: ffmpeg joins the segments, and would take the
 * header of the next one for text of the last cue.
 */
export function renderCaptionsSegment(cues: string, startTimestamp: number): string {
  const blocks = cues === '' ? [] : [cues];
  return `${webVttFile(blocks, `X-TIMESTAMP-MAP=MPEGTS:${startTimestamp},LOCAL:00:00:00.000\n`)}\n`;
}
