/** A tag or a URI of a playlist. Comments and blank lines are skipped. */
export type PlaylistLine = Tag | Address;

export type Tag = { line: number; name: string; value: string | null };
export type Address = { line: number; uri: string };

/** The text of a playlist, and the errors in its encoding. */
export type PlaylistText = { text: string; violations: string[] };

const BYTE_ORDER_MARK = '\uFEFF';

/** Decodes a playlist, which is UTF-8 without a byte order mark and control characters (RFC 8216 §4.1). */
export function decodePlaylist(bytes: Uint8Array): PlaylistText {
  const violations: string[] = [];
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    violations.push('is not UTF-8');
    text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }
  if (text.startsWith(BYTE_ORDER_MARK)) {
    violations.push('begins with a byte order mark');
    text = text.slice(1);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this searches for them
  const control = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f]/.exec(text);
  if (control)
    violations.push(
      `has the control character ${control[0].charCodeAt(0)} in line ${lineAt(text, control.index)}`,
    );
  return { text, violations };
}

/** The lines of a playlist, numbered from 1. */
export function readLines(text: string): PlaylistLine[] {
  return text.split(/\r?\n/).flatMap((content, at) => readLine(content, at + 1));
}

function readLine(content: string, line: number): PlaylistLine[] {
  if (content.startsWith('#EXT')) {
    const colon = content.indexOf(':');
    if (colon === -1) return [{ line, name: content.slice(1), value: null }];
    return [{ line, name: content.slice(1, colon), value: content.slice(colon + 1) }];
  }
  return content.startsWith('#') || content.trim() === '' ? [] : [{ line, uri: content }];
}

export function isTag(line: PlaylistLine): line is Tag {
  return 'name' in line;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
