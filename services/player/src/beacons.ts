import { pagePath } from './page-path.ts';
import { PlaybackLog } from './playback-log.ts';
import type { Failure } from './player.ts';

/** Between two beacons, if something has changed. */
const PAUSE_MS = 15_000;

/** A page that is open for longer counts as another view: the control plane finds a playback again on the day after its beginning, but not later. */
const SESSION_MS = 24 * 3600 * 1000;

/** Reports to the control plane what is played in this page. */
export class Beacons {
  readonly #url: string;
  readonly #log = new PlaybackLog();
  /** New for each load of the page, and after a day, so it recognises nobody. */
  #session = newSession();
  #sessionBeganAt = Date.now();
  /** The last beacon. */
  #sent = '';

  /** Reports of this page; undefined if the installation counts no views, or the viewer does not want to be counted. */
  static start(): Beacons | undefined {
    const isOn = document.querySelector('meta[name="beacons"]') !== null;
    const { globalPrivacyControl = false, doNotTrack }: Navigator & { globalPrivacyControl?: boolean } =
      navigator;
    if (!isOn || globalPrivacyControl || doNotTrack === '1') return undefined;
    return new Beacons(`${pagePath(location)}/beacons`);
  }

  private constructor(url: string) {
    this.#url = url;
    setInterval(() => this.#send(), PAUSE_MS);
    // The last event that a page gets for certain, above all on phones.
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') this.#send();
    });
    addEventListener('pagehide', () => this.#send());
  }

  /** Records what this media element plays. */
  follow(media: HTMLVideoElement): void {
    const on = (name: string, listener: () => void) => media.addEventListener(name, listener);
    const move = () => {
      const { currentTime, videoWidth, videoHeight, playbackRate } = media;
      const height = Math.min(videoWidth, videoHeight);
      if (!media.seeking) this.#log.moved(currentTime, { height, rate: playbackRate || 1 });
    };
    this.#log.jumped();
    on('play', () => {
      this.#log.requested(performance.now());
      move();
    });
    on('playing', () => {
      this.#log.playing(performance.now());
      move();
    });
    on('timeupdate', move);
    on('seeking', () => this.#log.jumped());
    on('seeked', move);
    on('waiting', () => {
      if (!media.seeking) this.#log.stalled(performance.now());
    });
  }

  failed(failure: Failure): void {
    this.#log.failed(failure);
    this.#send();
  }

  /** Ends an old session. What was watched since its last beacon is lost: sent today, all of its totals would count again. */
  #renewSession(): void {
    if (Date.now() - this.#sessionBeganAt < SESSION_MS) return;
    this.#session = newSession();
    this.#sessionBeganAt = Date.now();
    this.#log.restart();
  }

  #send(): void {
    this.#renewSession();
    const report = this.#log.report();
    const body = JSON.stringify({ session: this.#session, ...report });
    const isEmpty = report.watchSeconds === 0 && report.error === undefined;
    if (isEmpty || body === this.#sent) return;
    // Fails only if too much waits to be sent; the next one says the same again.
    if (navigator.sendBeacon(this.#url, new Blob([body], { type: 'application/json' }))) this.#sent = body;
  }
}

function newSession(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
