import { languageTagOf } from './language-tag.ts';

/** A file with captions as the browser read it. */
export type CaptionsFile = { name: string; text: string; format: 'webvtt' | 'subrip' | undefined };

/** Reads a file. Throws if it is not UTF-8: replaced characters would be stored as if they were meant. */
export async function readCaptionsFile(file: File): Promise<CaptionsFile> {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  return { name: file.name, text, format: formatOf(file.name) };
}

/** The format by the extension; undefined if the content decides. */
export function formatOf(name: string): CaptionsFile['format'] {
  if (/\.vtt$/i.test(name)) return 'webvtt';
  return /\.srt$/i.test(name) ? 'subrip' : undefined;
}

/** The language in a file name such as `clip.pt-BR.vtt` or `clip.English.srt`; empty without a language. */
export function languageIn(name: string): string {
  return languageTagOf(/[._]([a-z0-9-]+)\.[a-z]{3}$/i.exec(name)?.[1] ?? '') ?? '';
}
