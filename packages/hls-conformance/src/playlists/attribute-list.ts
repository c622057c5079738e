/** The form of an attribute's value (RFC 8216 §4.2). */
export type ValueKind = 'quoted' | 'hexadecimal' | 'integer' | 'decimal' | 'resolution' | 'word';

export type AttributeValue = {
  /** As written, without quotation marks. */
  text: string;
  quoted: boolean;
};

export type AttributeList = {
  attributes: ReadonlyMap<string, AttributeValue>;
  /** Where the list breaks the grammar; empty if it does not. */
  violations: string[];
};

const PAIR = /([A-Z0-9-]+)=(?:"([^"\r\n]*)"|([^",\s]+))/y;

const KINDS: Readonly<Record<ValueKind, RegExp>> = {
  quoted: /^/,
  hexadecimal: /^0[xX][0-9A-Fa-f]+$/,
  integer: /^\d{1,20}$/,
  decimal: /^\d+(\.\d+)?$/,
  resolution: /^\d+x\d+$/,
  word: /^[^",\s]+$/,
};

/** Attributes whose form RFC 8216 §4.3 fixes. Others may have any form. */
const KIND_OF: Readonly<Record<string, ValueKind>> = {
  ...kinds('integer', 'BANDWIDTH', 'AVERAGE-BANDWIDTH', 'PROGRAM-ID'),
  ...kinds('decimal', 'FRAME-RATE', 'SCORE', 'DURATION', 'PLANNED-DURATION'),
  ...kinds('resolution', 'RESOLUTION'),
  ...kinds('hexadecimal', 'IV'),
  ...kinds(
    'word',
    'TYPE',
    'METHOD',
    'DEFAULT',
    'AUTOSELECT',
    'FORCED',
    'PRECISE',
    'HDCP-LEVEL',
    'VIDEO-RANGE',
  ),
  ...kinds(
    'quoted',
    'CODECS',
    'SUPPLEMENTAL-CODECS',
    'AUDIO',
    'VIDEO',
    'SUBTITLES',
    'URI',
    'GROUP-ID',
    'NAME',
  ),
  ...kinds('quoted', 'LANGUAGE', 'ASSOC-LANGUAGE', 'CHANNELS', 'CHARACTERISTICS', 'INSTREAM-ID'),
  ...kinds('quoted', 'KEYFORMAT', 'KEYFORMATVERSIONS', 'BYTERANGE', 'DATA-ID', 'VALUE', 'ALLOWED-CPC'),
  ...kinds('quoted', 'STABLE-VARIANT-ID', 'STABLE-RENDITION-ID', 'PATHWAY-ID'),
};

/** Reads the valid part of an attribute list, and reports where it breaks the grammar of RFC 8216 §4.2. */
export function readAttributeList(list: string): AttributeList {
  const attributes = new Map<string, AttributeValue>();
  const violations: string[] = [];
  let at = 0;
  while (at < list.length) {
    PAIR.lastIndex = at;
    const pair = PAIR.exec(list);
    if (pair === null) {
      const blanks = /^\s+/.exec(list.slice(at))?.[0].length ?? 0;
      if (blanks === 0) return { attributes, violations: [...violations, unreadable(list.slice(at))] };
      violations.push(`has blanks before "${list.slice(at + blanks, at + blanks + 20)}"`);
      at += blanks;
      continue;
    }
    const [whole, name = '', quoted, plain = ''] = pair;
    const value = { text: quoted ?? plain, quoted: quoted !== undefined };
    if (attributes.has(name)) violations.push(`has ${name} twice`);
    else attributes.set(name, value);
    violations.push(...violationsOf(name, value));
    at += whole.length;
    if (at === list.length) break;
    if (list[at] !== ',') return { attributes, violations: [...violations, unreadable(list.slice(at))] };
    at += 1;
    if (at === list.length) violations.push('ends with a comma');
  }
  return { attributes, violations };
}

function unreadable(rest: string): string {
  return `cannot be read as NAME=value from "${rest.slice(0, 40)}" on`;
}

function violationsOf(name: string, { text, quoted }: AttributeValue): string[] {
  // NONE has no quotation marks, the name of a group has.
  if (name === 'CLOSED-CAPTIONS' && !quoted && text !== 'NONE')
    return ['has CLOSED-CAPTIONS without quotation marks'];
  const kind = KIND_OF[name];
  if (kind === undefined) return [];
  if ((kind === 'quoted') !== quoted) return [`has ${name} ${quoted ? 'in' : 'without'} quotation marks`];
  return KINDS[kind].test(text) ? [] : [`has ${name}=${text}, which is not a valid ${kind} value`];
}

function kinds(kind: ValueKind, ...names: string[]): Record<string, ValueKind> {
  return Object.fromEntries(names.map((name) => [name, kind]));
}
