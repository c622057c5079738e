import { adoptProperties, ElementBase } from '../element-base.ts';
import { styleSheet } from '../style-sheet.ts';
import { aspectRatio } from './aspect-ratio.ts';
import { embedUrl, type FrameOptions, frameUrl } from './frame-url.ts';
import { PlayerFrame } from './player-frame.ts';
import type { PlayerAbilities, PlayerFailure, PlayerTime } from './player-messages.ts';

/** The events of a player. They do not bubble, like those of `<video>`. */
export type PlayerEventMap = {
  ready: CustomEvent<PlayerAbilities>;
  play: CustomEvent<null>;
  pause: CustomEvent<null>;
  ended: CustomEvent<null>;
  timeupdate: CustomEvent<PlayerTime>;
  progress: CustomEvent<PlayerTime>;
  error: CustomEvent<PlayerFailure>;
  tokenexpired: CustomEvent<null>;
};

/** Attributes that decide which page the frame loads. A change of another one does not load it again. */
const OF_VIDEO = ['src', 'base-url', 'workspace-id', 'video-id'];

const CSS = `
:host { display: block; position: relative; aspect-ratio: 16 / 9; overflow: hidden; background: #000; }
:host([hidden]) { display: none; }
iframe { position: absolute; inset: 0; width: 100%; height: 100%; border: 0; }`;

/**
 * `<framelane-player>`: the player page of a video. It has its size before anything is loaded. The methods can be called at once: they take effect
 * when the page has a player. See README.md.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the interface only has overloads of a method of the class.
export class FramelanePlayerElement extends ElementBase {
  static readonly observedAttributes = [
    ...OF_VIDEO,
    'token',
    'muted',
    'loop',
    'title',
    'aspect-ratio',
    'loading',
  ];

  #iframe: HTMLIFrameElement | undefined;
  #frame: PlayerFrame | undefined;
  #ratio: CSSStyleSheet | undefined;
  #lastEvents: readonly CustomEvent[] = [];
  /** Changed attributes that are not applied yet. Attributes that are set one after another are applied together. */
  readonly #changed = new Set<string>();

  connectedCallback(): void {
    adoptProperties(this, ['src', 'token']);
    this.#change('aspect-ratio');
    this.#change('src');
  }

  disconnectedCallback(): void {
    this.#unload();
  }

  /** The attribute `src`: the `embed` URL of a video. */
  get src(): string {
    return this.getAttribute('src') ?? '';
  }

  set src(url: string | null | undefined) {
    this.#reflect('src', url);
  }

  /** The attribute `token`. A new token does not load the page again: playback continues. */
  get token(): string {
    return this.getAttribute('token') ?? '';
  }

  set token(token: string | null | undefined) {
    this.#reflect('token', token);
  }

  /** The last `ready`, and the last `tokenexpired` without a newer token: for listeners that are added later. */
  get lastEvents(): readonly CustomEvent[] {
    return this.#lastEvents;
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before !== after) this.#change(name);
  }

  /** Starts playback. A browser may refuse that for audible video before the viewer has done something on the page. */
  play(): void {
    this.#call('play');
  }

  pause(): void {
    this.#call('pause');
  }

  mute(): void {
    this.#call('mute');
  }

  unmute(): void {
    this.#call('unmute');
  }

  /** Goes to a time in seconds. */
  setCurrentTime(seconds: number): void {
    this.#call('setCurrentTime', seconds);
  }

  /** Sets the volume, from 0 to 100. */
  setVolume(volume: number): void {
    this.#call('setVolume', volume);
  }

  /** Seconds. */
  async getCurrentTime(): Promise<number> {
    return Number(await this.#get('getCurrentTime'));
  }

  /** Seconds; 0 until it is known. */
  async getDuration(): Promise<number> {
    return Number(await this.#get('getDuration'));
  }

  async getPaused(): Promise<boolean> {
    return (await this.#get('getPaused')) === true;
  }

  async getMuted(): Promise<boolean> {
    return (await this.#get('getMuted')) === true;
  }

  /** From 0 to 100. */
  async getVolume(): Promise<number> {
    return Number(await this.#get('getVolume'));
  }

  #reflect(name: string, value: string | null | undefined): void {
    if (value === null || value === undefined) this.removeAttribute(name);
    else this.setAttribute(name, value);
  }

  #call(method: string, value?: unknown): void {
    this.#apply();
    this.#frame?.call(method, value);
  }

  #get(method: string): Promise<unknown> {
    this.#apply();
    if (this.#frame === undefined)
      return Promise.reject(
        new Error('This <framelane-player> shows no video: set src, and add it to a page.'),
      );
    return this.#frame.get(method);
  }

  #shadow(): ShadowRoot {
    if (this.shadowRoot !== null) return this.shadowRoot;
    const root = this.attachShadow({ mode: 'open' });
    this.#ratio = styleSheet('');
    root.adoptedStyleSheets = [styleSheet(CSS), this.#ratio];
    return root;
  }

  #change(name: string): void {
    if (!this.isConnected) return;
    if (this.#changed.size === 0) queueMicrotask(() => this.#apply());
    this.#changed.add(name);
  }

  #apply(): void {
    const changed = new Set(this.#changed);
    this.#changed.clear();
    if (changed.size === 0 || !this.isConnected) return;
    if (changed.has('aspect-ratio')) this.#setRatio();
    if (this.#iframe === undefined || OF_VIDEO.some((name) => changed.has(name))) {
      this.#load();
      return;
    }
    const token = this.getAttribute('token');
    if (changed.has('token') && token !== null) {
      this.#lastEvents = this.#lastEvents.filter(({ type }) => type !== 'tokenexpired');
      this.#frame?.setToken(token);
    }
    if (changed.has('muted')) this.#frame?.call(this.hasAttribute('muted') ? 'mute' : 'unmute');
    if (changed.has('loop')) this.#frame?.call('setLoop', this.hasAttribute('loop'));
    if (changed.has('title')) this.#iframe.title = this.#title();
    if (changed.has('loading')) this.#iframe.loading = this.#loading();
  }

  #load(): void {
    this.#unload();
    const options = this.#options();
    const page = embedUrl(options);
    if (page === undefined) return;
    const iframe = document.createElement('iframe');
    iframe.setAttribute('part', 'frame');
    iframe.title = this.#title();
    iframe.allow = 'autoplay; fullscreen; picture-in-picture';
    iframe.loading = this.#loading();
    iframe.src = frameUrl(page, options);
    this.#frame = new PlayerFrame(iframe, page.origin, {
      onEvent: (name, detail) => this.#emit(name, detail),
      onTokenExpired: () => this.#emit('tokenexpired'),
    });
    this.#iframe = iframe;
    this.#shadow().append(iframe);
  }

  #emit(name: string, detail: unknown = null): void {
    const event = new CustomEvent(name, { detail });
    const without = (type: string) => this.#lastEvents.filter((each) => each.type !== type);
    // A page that is ready again has a valid token and no failure.
    if (name === 'ready') this.#lastEvents = [event];
    else if (name === 'play') this.#lastEvents = without('error');
    else if (name === 'tokenexpired' || name === 'error') this.#lastEvents = [...without(name), event];
    this.dispatchEvent(event);
  }

  #unload(): void {
    this.#lastEvents = [];
    this.#frame?.close();
    this.#iframe?.remove();
    this.#frame = undefined;
    this.#iframe = undefined;
  }

  #options(): FrameOptions {
    const text = (name: string) => this.getAttribute(name);
    const is = (name: string) => this.hasAttribute(name);
    return {
      src: text('src'),
      baseUrl: text('base-url'),
      workspaceId: text('workspace-id'),
      videoId: text('video-id'),
      token: text('token'),
      start: text('start'),
      color: text('color'),
      autoplay: is('autoplay'),
      muted: is('muted'),
      loop: is('loop'),
    };
  }

  /** Screen readers announce a frame by its title. */
  #title(): string {
    return this.title || 'Video';
  }

  #loading(): 'eager' | 'lazy' {
    return this.getAttribute('loading') === 'lazy' ? 'lazy' : 'eager';
  }

  #setRatio(): void {
    const text = this.getAttribute('aspect-ratio');
    const ratio = text === null ? undefined : aspectRatio(text);
    this.#shadow();
    this.#ratio?.replaceSync(ratio === undefined ? '' : `:host { aspect-ratio: ${ratio}; }`);
    // The video is shown nevertheless.
    if (text !== null && ratio === undefined)
      reportError(
        new TypeError('aspect-ratio of <framelane-player> must be two numbers such as 16/9, or one.'),
      );
  }
}

/** Types of the events. */
export interface FramelanePlayerElement {
  addEventListener<Name extends keyof PlayerEventMap>(
    type: Name,
    listener: (this: FramelanePlayerElement, event: PlayerEventMap[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'framelane-player': FramelanePlayerElement;
  }
}
