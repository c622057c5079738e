import { doubleTapSeconds, seekWords, swipeSeconds, type Touch } from './gestures.ts';

/** Milliseconds for which the words of a gesture stay. */
const WORDS_MS = 700;

/**
 * Lets fingers control the video, until `signal` aborts: a tap before the first play starts it, double taps and swipes seek. media-chrome itself
 * shows and hides the controls after a tap. A swipe seeks when the finger leaves, because each seek loads a segment.
 */
export function listenForTouch(root: HTMLElement, media: HTMLMediaElement, signal: AbortSignal): void {
  const words = root.querySelector('.gesture');
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const say = (text: string) => {
    if (words) words.textContent = text;
    clearTimeout(hiding);
    hiding = setTimeout(() => words?.replaceChildren(), WORDS_MS);
  };
  const seek = (seconds: number) => {
    if (!Number.isFinite(media.duration)) return;
    media.currentTime = Math.min(Math.max(media.currentTime + seconds, 0), media.duration);
    say(seekWords(seconds));
  };
  let begun: Touch | undefined;
  let tapped: Touch | undefined;
  const on = (
    type: 'pointerdown' | 'pointermove' | 'pointerup' | 'pointercancel',
    act: (touch: Touch) => void,
  ) => {
    const listener = (event: PointerEvent) => {
      if (event.pointerType !== 'touch' || !event.isPrimary) return;
      const { left, top } = root.getBoundingClientRect();
      act({ x: event.clientX - left, y: event.clientY - top, time: event.timeStamp });
    };
    // Touches of the controls are theirs.
    media.addEventListener(type, listener, { signal });
  };
  on('pointerdown', (touch) => {
    begun = touch;
  });
  on('pointermove', (touch) => {
    const seconds = begun && swipeSeconds(begun, touch, root.clientWidth);
    if (seconds !== undefined) say(seekWords(seconds));
  });
  on('pointercancel', () => {
    begun = undefined;
  });
  on('pointerup', (touch) => {
    const [from, earlier] = [begun, tapped];
    [begun, tapped] = [undefined, undefined];
    if (from === undefined) return;
    const swiped = swipeSeconds(from, touch, root.clientWidth);
    if (swiped !== undefined) return seek(swiped);
    // Some tap twice to begin. That seeks nowhere.
    if (!root.classList.contains('started')) return void media.play().catch(() => {});
    tapped = touch;
    const seconds = doubleTapSeconds(earlier, touch, root.clientWidth);
    if (seconds !== undefined) seek(seconds);
  });
  signal.addEventListener('abort', () => clearTimeout(hiding));
}
