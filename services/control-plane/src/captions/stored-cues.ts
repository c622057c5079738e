import type { Cue } from '@framelane/captions/captions';
import { cueBlock, webVttFile } from '@framelane/captions/write-webvtt';

/**
 * Cues for the database. The arrays are literals of PostgreSQL, each one string: the driver would build the same strings from arrays on the
 * event loop, and threads pass on a string faster than an array.
 */
export type StoredCues = {
  count: number;
  /** Size of the WebVTT file. */
  bytes: number;
  /** Milliseconds, as `bigint[]`. */
  starts: string;
  ends: string;
  /** Each cue as a block of WebVTT, as `text[]`. */
  blocks: string;
};

export function storedCues(cues: readonly Cue[]): StoredCues {
  const blocks = cues.map(cueBlock);
  return {
    count: cues.length,
    bytes: Buffer.byteLength(webVttFile(blocks)),
    starts: arrayLiteral(cues.map(({ start }) => String(start))),
    ends: arrayLiteral(cues.map(({ end }) => String(end))),
    blocks: arrayLiteral(blocks),
  };
}

/** See "Array Input and Output Syntax" of PostgreSQL. */
function arrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
