import { type Sample, secondsUntil, waitWords, withSample } from './preview.ts';
import { previewWords, type State } from './state.ts';

/** Shows which part of a video is not transcoded yet, and when a part that the viewer waits for will be. */
export class PreviewView {
  readonly #root: HTMLElement;
  readonly #media: HTMLMediaElement;
  #samples: Sample[] = [];
  /** Whether the video is still being prepared, as far as the page knows. */
  #isPreparing = false;

  constructor(root: HTMLElement, media: HTMLMediaElement) {
    this.#root = root;
    this.#media = media;
    for (const event of ['seeking', 'waiting', 'playing', 'canplay', 'loadedmetadata']) {
      media.addEventListener(event, () => this.#showWait());
    }
  }

  /** Takes the newest state of the video. */
  update(state: State): void {
    this.#isPreparing = state.status === 'preparing' || state.status === 'waiting';
    if (state.status === 'preparing')
      this.#samples = withSample(this.#samples, { time: performance.now(), percent: state.progress });
    else if (state.status === 'ready') this.#samples = [];
    this.#root.style.setProperty('--made', String(this.#samples.at(-1)?.percent ?? 100));
    this.#write('.note', previewWords(state));
    this.#showWait();
  }

  /** A part that is loading although it should be there needs no words: the icon turns. */
  #showWait(): void {
    const { currentTime, duration, readyState } = this.#media;
    const seconds = secondsUntil(currentTime, duration, this.#samples);
    // Before the duration is known, it is the video that is loading, and not a part that is missing.
    const isWaiting =
      this.#isPreparing && duration > 0 && readyState < HTMLMediaElement.HAVE_FUTURE_DATA && seconds !== 0;
    this.#write('.wait', isWaiting ? waitWords(seconds) : '');
  }

  #write(selector: string, words: string): void {
    const line = this.#root.querySelector(selector);
    if (line && line.textContent !== words) line.textContent = words;
  }
}
