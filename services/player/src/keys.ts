import type { ControlledMedia } from './player-js.ts';

const FRAME_SECONDS = 1 / 25;

/**
 * The time that a key seeks to; undefined for other keys. The arrows seek 5 seconds, J and L 10 seconds, 0 to 9 to tenths of the
 * video, Home and End to its ends, comma and full stop one frame (of 25 a second) while paused. media-chrome would seek from a time that is
 * out of date when keys follow each other quickly.
 */
export function seekTarget(
  key: string,
  { currentTime, duration, paused }: Pick<ControlledMedia, 'currentTime' | 'duration' | 'paused'>,
): number | undefined {
  if (!Number.isFinite(duration)) return undefined;
  const target = targetOf(key, currentTime, duration, paused);
  return target === undefined ? undefined : Math.min(Math.max(target, 0), duration);
}

function targetOf(key: string, time: number, duration: number, paused: boolean): number | undefined {
  if (/^\d$/.test(key)) return (Number(key) / 10) * duration;
  switch (key) {
    case 'ArrowLeft':
      return time - 5;
    case 'ArrowRight':
      return time + 5;
    case 'j':
      return time - 10;
    case 'l':
      return time + 10;
    case 'Home':
      return 0;
    case 'End':
      return duration;
    case ',':
      return paused ? time - FRAME_SECONDS : undefined;
    case '.':
      return paused ? time + FRAME_SECONDS : undefined;
    default:
      return undefined;
  }
}

/** Elements that use keys themselves. */
const OWN_KEYS = 'dialog, [role="menu"], [role="slider"], input, textarea, select';

/** Lets keys seek in the video, wherever the focus is, except in menus, sliders and fields, until `signal` aborts. */
export function listenForKeys(root: HTMLElement, media: ControlledMedia, signal: AbortSignal): void {
  // Shortcuts of the browser are not for the player. media-chrome would take Ctrl+C for C.
  const keepShortcut = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) event.stopPropagation();
  };
  document.addEventListener('keydown', keepShortcut, { capture: true, signal });
  const seek = (event: KeyboardEvent) => {
    const within = event.composedPath().some((each) => each instanceof Element && each.matches(OWN_KEYS));
    const target = within ? undefined : seekTarget(event.key, media);
    if (target === undefined) return;
    event.preventDefault();
    media.currentTime = target;
  };
  document.addEventListener('keydown', seek, { signal });
  // media-chrome listens on the player only. Keys also work before anything has the focus.
  const forward = (event: KeyboardEvent) => {
    if (event.target !== document.body) return;
    const copy = { key: event.key, shiftKey: event.shiftKey };
    root.dispatchEvent(new KeyboardEvent('keydown', copy));
    root.dispatchEvent(new KeyboardEvent('keyup', copy));
  };
  document.addEventListener('keydown', forward, { signal });
}
