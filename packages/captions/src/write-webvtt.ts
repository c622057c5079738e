import type { Cue } from './captions.ts';

/** A cue as a block of a WebVTT file, without the blank line after it. */
export function cueBlock({ start, end, settings, text }: Cue): string {
  const timing = `${timestamp(start)} --> ${timestamp(end)}`;
  return `${settings === '' ? timing : `${timing} ${settings}`}\n${text}\n`;
}

/** A WebVTT file of these blocks. `header` contains the lines after the first one, each with its line break. */
export function webVttFile(blocks: readonly string[], header = ''): string {
  return [`WEBVTT\n${header}`, ...blocks].join('\n');
}

/** Milliseconds as a WebVTT timestamp, e.g. `00:01:02.500`. */
export function timestamp(milliseconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = String(milliseconds % 1000).padStart(3, '0');
  const whole = Math.floor(milliseconds / 1000);
  return `${two(whole / 3600)}:${two((whole / 60) % 60)}:${two(whole % 60)}.${rest}`;
}
