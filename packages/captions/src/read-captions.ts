import { isUtf8 } from 'node:buffer';
import { CaptionsError, type Cue, MAX_CUES } from './captions.ts';
import { normalizeSettings, settingsOfPosition } from './cue-settings.ts';
import { normalizeText } from './cue-text.ts';
import { timestamp } from './write-webvtt.ts';

export type CaptionsFormat = 'webvtt' | 'subrip';

/** A line that is not blank, with its number in the file. */
type Line = { number: number; text: string; followsBlank: boolean };
/** The lines of a cue or of another part of a file. */
type Block = [Line, ...Line[]];

const LINE_BREAK = /\r\n|\n|\r/;
/** The line break of files whose LF became CR LF twice. */
const DOUBLED_LINE_BREAK = /\r\r\n/;
const ARROW = '-->';
/** Hours are optional and can have more than two digits. WebVTT writes a point, SubRip a comma; files mix them up. */
const TIME = String.raw`(?:(\d{1,5}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})`;
const TIMING = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s(.*))?$`, 's');
/** The number of a cue of SubRip. */
const NUMBER = /^\s*\d+\s*$/;
/** Blocks of WebVTT that are not cues. */
const OTHER_BLOCK = /^(NOTE|STYLE|REGION)(?:[ \t]|$)/;

/**
 * Reads a WebVTT or SubRip file. The cues are sorted by their start. Styles, regions, comments, and cues without text or duration
 * are left out. Throws a CaptionsError for the first line that cannot be read, for a file without any cue that has text and a duration,
 * for too many cues, and for a cue that begins after the end of the video. `duration` is in seconds; null if it is not known yet.
 */
export function readCaptions(
  bytes: Uint8Array,
  format: CaptionsFormat,
  duration: number | null = null,
): Cue[] {
  const lines = linesOf(decode(bytes).replaceAll('\0', '\ufffd'));
  requireLines(lines);
  checkHeader(lines[0] ?? '', format);
  const cues: Cue[] = [];
  const blocks =
    format === 'webvtt' ? webVttBlocks(textLines(lines, format)) : subRipBlocks(textLines(lines, format));
  const header = format === 'webvtt' ? blocks.shift() : undefined;
  if (header !== undefined) requireNoCue(header);
  for (const block of blocks) {
    if (format === 'webvtt' && OTHER_BLOCK.test(block[0].text)) {
      requireNoCue(block);
      continue;
    }
    const cue = readCue(block, format);
    if (cue.end <= cue.start || !hasText(cue)) continue;
    requireStartBefore(duration, cue, block[0]);
    cues.push(cue);
    if (cues.length > MAX_CUES) {
      throw new CaptionsError(block[0].number, `it has more than ${MAX_CUES} cues`);
    }
  }
  if (cues.length === 0) throw new CaptionsError(null, 'it has no cue with text and a duration');
  return cues.toSorted((a, b) => a.start - b.start);
}

function requireLines(lines: readonly string[]): void {
  if (lines.every((line) => line.trim() === '')) {
    throw new CaptionsError(null, 'it is empty', 'With curl, send it with --data-binary @captions.vtt.');
  }
  if (lines.length === 1 && lines[0]?.includes(ARROW)) {
    const advice = 'Send the file unchanged. With curl, use --data-binary: --data removes line breaks.';
    throw new CaptionsError(1, 'the file has no line breaks', advice);
  }
}

function checkHeader(firstLine: string, format: CaptionsFormat): void {
  const isWebVtt = /^WEBVTT(?:[ \t]|$)/.test(firstLine);
  if (format === 'webvtt' && !isWebVtt) {
    throw new CaptionsError(1, 'a WebVTT file begins with WEBVTT', 'Send SubRip as application/x-subrip.');
  }
  if (format === 'subrip' && isWebVtt) throw new CaptionsError(1, 'this is WebVTT', 'Send it as text/vtt.');
}

/** Throws if a block that is not a cue, such as the WebVTT header, contains a cue: the blank line between them is missing. */
function requireNoCue([, ...lines]: Block): void {
  const cue = lines.find(({ text }) => text.includes(ARROW));
  if (cue !== undefined) throw noBlankLineBefore(cue);
}

/** The text of a file in UTF-8, without its byte order marks: programs that join or convert files can add a second one. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new CaptionsError(null, 'it is in UTF-16', 'Save it in UTF-8.');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/^\ufeff+/, '');
  } catch {
    throw new CaptionsError(lineOfBadByte(bytes), 'this is not UTF-8', 'Save the file in UTF-8.');
  }
}

/** The first line that is not UTF-8. No character of several bytes contains the byte of a line break. */
function lineOfBadByte(bytes: Uint8Array): number {
  // In Latin-1 every byte is a character.
  const lines = linesOf(Buffer.from(bytes).toString('latin1'));
  return lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1'))) + 1;
}

function linesOf(text: string): string[] {
  const isDoubled = !/(?<!\r\r)\n/.test(text) && text.includes('\n');
  return text.split(isDoubled ? DOUBLED_LINE_BREAK : LINE_BREAK);
}

/** The lines that are not blank. In WebVTT a line of spaces is not blank. */
function textLines(lines: readonly string[], format: CaptionsFormat): Line[] {
  const found: Line[] = [];
  let followsBlank = true;
  for (const [index, text] of lines.entries()) {
    const isBlank = (format === 'webvtt' ? text : text.trim()) === '';
    if (!isBlank) found.push({ number: index + 1, text, followsBlank });
    followsBlank = isBlank;
  }
  return found;
}

/** Blocks end at a blank line. */
function webVttBlocks(lines: readonly Line[]): Block[] {
  const blocks: Block[] = [];
  for (const line of lines) {
    if (line.followsBlank) blocks.push([line]);
    else blocks.at(-1)?.push(line);
  }
  return blocks;
}

/** Text after a blank line belongs to the cue before it, unless it begins a new cue. */
function subRipBlocks(lines: readonly Line[]): Block[] {
  const blocks: Block[] = [];
  for (const [at, line] of lines.entries()) {
    const block = blocks.at(-1);
    if (block === undefined || beginsCue(line, lines[at + 1], block)) blocks.push([line]);
    else if (at < lines.length - 1 || !line.followsBlank || !isNextNumber(line, block)) block.push(line);
    // Otherwise the file ends with the number of a cue that is missing.
  }
  return blocks;
}

/** Whether a line of SubRip is the first one of a cue: its number, or its times if no number is above them. `block` is the cue before it. */
function beginsCue(line: Line, next: Line | undefined, block: Block): boolean {
  if (isTimes(line)) return line.followsBlank && !(block.length === 1 && NUMBER.test(block[0].text));
  if (!isTimes(next)) return false;
  if (!next?.followsBlank) return line.followsBlank;
  return line.followsBlank ? NUMBER.test(line.text) : isNextNumber(line, block);
}

function isNextNumber(line: Line, [first]: Block): boolean {
  return NUMBER.test(line.text) && Number(line.text) === Number(first.text) + 1;
}

function isTimes(line: Line | undefined): boolean {
  return line?.text.includes(ARROW) ?? false;
}

/** A cue: an optional identifier or number, the timing, and the text. */
function readCue(block: Block, format: CaptionsFormat): Cue {
  const [timing, ...textLines] = block[0].text.includes(ARROW) ? block : block.slice(1);
  if (!timing?.text.includes(ARROW)) throw notACue(block[0], format);
  const match = TIMING.exec(timing.text) ?? [];
  const [start, end] = [timeOf(match.slice(1, 5)), timeOf(match.slice(5, 9))];
  if (start === null || end === null) throw notATiming(timing, format);
  if (end < start) throw new CaptionsError(timing.number, 'the cue ends before it begins');
  const next = textLines.find((line) => TIMING.test(line.text));
  if (next !== undefined) throw noBlankLineBefore(next);
  const text = textLines.map((line) => line.text).join('\n');
  const settings = format === 'webvtt' ? normalizeSettings(match[9] ?? '') : settingsOfPosition(text);
  return { start, end, settings, text: normalizeText(text, format) };
}

/** Whether a cue has text besides its tags. */
function hasText({ text }: Cue): boolean {
  return text.replaceAll(/<[^<>]*>/g, '').trim() !== '';
}

/** Milliseconds; null if there is no time, or if its minutes or seconds exceed 59. */
function timeOf([hours = '0', minutes, seconds, fraction = '']: (string | undefined)[]): number | null {
  if (minutes === undefined || Number(minutes) > 59 || Number(seconds) > 59) return null;
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1000 + Number(fraction.padEnd(3, '0'));
}

function notACue({ number }: Line, format: CaptionsFormat): CaptionsError {
  const advice = `It has times such as ${exampleOf(format)}. A blank line ends a cue.`;
  return new CaptionsError(number, 'a cue was expected', advice);
}

function noBlankLineBefore({ number }: Line): CaptionsError {
  return new CaptionsError(number, 'a blank line is missing before this cue');
}

function notATiming({ number }: Line, format: CaptionsFormat): CaptionsError {
  return new CaptionsError(number, 'the times cannot be read', `They must be like ${exampleOf(format)}.`);
}

function requireStartBefore(duration: number | null, { start }: Cue, { number }: Line): void {
  if (duration === null || start < duration * 1000) return;
  const flaw = `the cue begins at ${timestamp(start)}, but the video ends at ${timestamp(Math.round(duration * 1000))}`;
  throw new CaptionsError(number, flaw, 'Check that the file belongs to this video, and correct the times.');
}

function exampleOf(format: CaptionsFormat): string {
  return format === 'webvtt' ? '00:01:02.500 --> 00:01:04.000' : '00:01:02,500 --> 00:01:04,000';
}
