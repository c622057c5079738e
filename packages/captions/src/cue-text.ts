import { decodeHTML, decodeHTMLStrict } from 'entities';

/** Decodes the character references of a text. */
type Decode = (text: string) => string;

/** Tags without attributes that the output can contain. `v` is the other tag: it names a speaker. */
const PLAIN_TAGS = new Set(['b', 'i', 'u', 'ruby', 'rt']);

/** Tags inside each other that the output can contain. Players build a tree of them. */
const MAX_DEPTH = 16;

/** A tag, or a time inside the text, for karaoke. A `<` that begins neither is text. */
const TAG = /<(?<slash>\/?)(?<name>[a-z][\w-]*)(?:\.[^\s<>]*)?(?:\s(?<rest>[^<>]*))?\/?>|<\d[\d:.]*>/gi;

/** ASS override codes, such as `{\an8}`, which occur in SubRip. */
const OVERRIDE = /\{\\[^{}]*\}/g;

/**
 * The beginning of an override code that is left: one that has no end, or that was put together by the removal of another one. Without its
 * backslash, no later reader takes it for a code.
 */
const REST_OF_OVERRIDE = /\{\\+/g;

/** Control characters, except line breaks. */
const CONTROL = /[^\P{Cc}\n]/gu;

/**
 * Cue text for WebVTT from that of WebVTT or SubRip. Keeps the tags b, i, u, ruby, rt and v, and closes those that are
 * open at the end. Removes all other tags, such as those of scripts, fonts and classes, and those nested too deep, and keeps the text
 * inside.
 *
 * Decodes the character references of HTML (W3C WebVTT §6.4). SubRip has no specification, and some players decode references in it. So
 * there a reference must end with a semicolon, which ordinary text with an ampersand does not.
 */
export function normalizeText(text: string, format: 'webvtt' | 'subrip'): string {
  const decode = format === 'webvtt' ? decodeHTML : decodeHTMLStrict;
  const plain = withoutControls(text).replaceAll(OVERRIDE, '');
  const open = new OpenTags();
  const parts: string[] = [];
  let end = 0;
  for (const { 0: token, index, groups: { slash, name, rest = '' } = {} } of plain.matchAll(TAG)) {
    parts.push(normalized(plain.slice(end, index), decode));
    end = index + token.length;
    if (name === undefined) continue;
    const tag = name.toLowerCase();
    parts.push(slash ? open.close(tag) : openTag(tag, rest, open, decode));
  }
  parts.push(normalized(plain.slice(end), decode), open.closeAll());
  return withoutBlankLines(parts.join('').replaceAll(REST_OF_OVERRIDE, '{'));
}

/** The tags that are open at a place of the text. Each call takes constant time for each tag that it opens or closes. */
class OpenTags {
  readonly #names: string[] = [];
  readonly #counts = new Map<string, number>();

  /** The begin tag. Empty if too many tags are open: the tag then only counts, so that its end closes no other tag. */
  open(name: string, begin: string): string {
    this.#names.push(name);
    this.#count(name, 1);
    return this.#names.length <= MAX_DEPTH ? begin : '';
  }

  /** The end tags of the innermost tag with this name, and of those inside it. */
  close(name: string): string {
    if (!this.#counts.get(name)) return '';
    let ends = '';
    while (this.#names.at(-1) !== name) ends += this.#closeInnermost();
    return ends + this.#closeInnermost();
  }

  closeAll(): string {
    let ends = '';
    while (this.#names.length > 0) ends += this.#closeInnermost();
    return ends;
  }

  #closeInnermost(): string {
    const name = this.#names.pop() ?? '';
    this.#count(name, -1);
    return this.#names.length < MAX_DEPTH ? `</${name}>` : '';
  }

  #count(name: string, change: 1 | -1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + change);
  }
}

function openTag(name: string, rest: string, open: OpenTags, decode: Decode): string {
  if (PLAIN_TAGS.has(name)) return open.open(name, `<${name}>`);
  const speaker = name === 'v' ? speakerOf(rest, decode) : '';
  if (speaker === '') return '';
  // An arrow would end the cue, and players ignore the space.
  const end = speaker.endsWith('--') ? ' >' : '>';
  return open.open('v', `<v ${speaker}${end}`);
}

/** The name in `<v Name>`, on one line. */
function speakerOf(rest: string, decode: Decode): string {
  return normalized(rest, decode).replaceAll(/\s+/g, ' ').trim();
}

/** Text between tags. */
function normalized(text: string, decode: Decode): string {
  return escaped(withoutControls(decode(text)));
}

function withoutControls(text: string): string {
  return text.replaceAll(CONTROL, ' ');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function withoutBlankLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}
