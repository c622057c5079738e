/** Tags without attributes that the output can contain. `v` is the other tag: it names a speaker. */
const PLAIN_TAGS = new Set(['b', 'i', 'u', 'ruby', 'rt']);

/** The entities of WebVTT cue text and their characters. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&lrm;': '\u200e',
  '&rlm;': '\u200f',
  '&nbsp;': '\u00a0',
};

/** A tag, an entity, or a character that has to be escaped. A `<` that begins no tag is text. */
const TOKEN =
  /<(?<slash>\/?)(?<tag>[a-z][\w-]*)(?:\.[^\s<>]*)?(?:\s(?<rest>[^<>]*))?\/?>|<\d[\d:.]*>|&(?:amp|lt|gt|lrm|rlm|nbsp);|[&<>]/gi;

/** ASS override codes, such as `{\an8}`, which occur in SubRip. */
const OVERRIDE = /\{\\[^{}]*\}/g;

/** Control characters, except line breaks. */
const CONTROL = /[^\P{Cc}\n]/gu;

/**
 * Cue text for WebVTT from that of WebVTT or SubRip. Keeps the tags b, i, u, ruby, rt and v, and closes those that are
 * open at the end. Removes all other tags, such as those of scripts, fonts and classes, and keeps the text inside.
 */
export function normalizeText(text: string): string {
  const open: string[] = [];
  const plain = text.replaceAll(CONTROL, ' ').replaceAll(OVERRIDE, '');
  const tokens = plain.replaceAll(TOKEN, (token, ...matched) => {
    const { slash, tag, rest = '' } = matched.at(-1) as Record<string, string | undefined>;
    if (tag !== undefined)
      return slash ? closeTag(tag.toLowerCase(), open) : openTag(tag.toLowerCase(), rest, open);
    // A time inside the text, for karaoke.
    if (token.length > 1 && token.startsWith('<')) return '';
    return escaped(ENTITIES[token.toLowerCase()] ?? token);
  });
  return withoutBlankLines(tokens + open.reverse().map(endOf).join(''));
}

function openTag(name: string, rest: string, open: string[]): string {
  const speaker = name === 'v' ? speakerOf(rest) : '';
  if (!PLAIN_TAGS.has(name) && speaker === '') return '';
  open.push(name);
  return speaker === '' ? `<${name}>` : `<v ${speaker}>`;
}

/** Closes the innermost tag of this name, and the tags inside it. */
function closeTag(name: string, open: string[]): string {
  const at = open.lastIndexOf(name);
  return at === -1 ? '' : open.splice(at).reverse().map(endOf).join('');
}

function endOf(name: string): string {
  return `</${name}>`;
}

/** The name in `<v Name>`, on one line. */
function speakerOf(rest: string): string {
  const name = rest.replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);
  return escaped(name.replaceAll(/\s+/g, ' ').trim());
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function withoutBlankLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}
