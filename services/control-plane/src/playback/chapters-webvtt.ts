import { cueBlock, webVttFile } from '@framelane/captions/write-webvtt';
import type { TimedChapter } from './timed-chapters.ts';

/** Chapters as a WebVTT file. The text of a chapter cue has no tags, so its title is escaped (W3C WebVTT §4.5). */
export function chaptersFile(chapters: readonly TimedChapter[]): string {
  const blocks = chapters.map(({ start, end, title }) =>
    cueBlock({
      start: Math.round(start * 1000),
      end: Math.round(end * 1000),
      settings: '',
      text: escaped(title),
    }),
  );
  return webVttFile(blocks);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
