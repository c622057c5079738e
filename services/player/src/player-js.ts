/** The version of the player.js conventions. */
const VERSION = '0.0.11';
const CONTEXT = 'player.js';

/** The codes of `error` events in the conventions. */
const CODES = { unspecified: -1, noSuchMethod: 2 } as const;

/** The parts of a media element that the interface uses. */
export type ControlledMedia = Pick<
  HTMLMediaElement,
  'paused' | 'muted' | 'volume' | 'duration' | 'currentTime' | 'loop' | 'buffered' | 'play' | 'pause'
> &
  Pick<EventTarget, 'addEventListener'> & {
    /** When the first frame is shown, if not at zero, in seconds of `currentTime`. */
    firstFrameTime?: number;
  };

/** Sends a message to the page that shows the player. */
export type Post = (message: string, origin: string) => void;

const GETTERS: Record<string, (media: ControlledMedia) => unknown> = {
  getPaused: (media) => media.paused,
  getMuted: (media) => media.muted,
  getVolume: (media) => Math.round(media.volume * 100),
  getDuration: (media) => seconds(media.duration),
  getCurrentTime: timeInVideo,
  getLoop: (media) => media.loop,
};

const ACTIONS: Record<string, (media: ControlledMedia, value: unknown) => void> = {
  play: (media) => {
    media.play().catch(() => {});
  },
  pause: (media) => media.pause(),
  mute: (media) => {
    media.muted = true;
  },
  unmute: (media) => {
    media.muted = false;
  },
  setVolume: (media, value) => {
    media.volume = clamp(Number(value) / 100, 1);
  },
  setCurrentTime: (media, value) => {
    const seek = () => {
      media.currentTime = clamp(Number(value) + (media.firstFrameTime ?? 0), seconds(media.duration));
    };
    if (Number.isFinite(media.duration)) seek();
    else media.addEventListener('loadedmetadata', seek, { once: true });
  },
  setLoop: (media, value) => {
    media.loop = value === true;
  },
};

const EVENTS: Record<string, (media: ControlledMedia) => unknown> = {
  play: () => undefined,
  pause: () => undefined,
  ended: () => undefined,
  timeupdate: (media) => ({ seconds: timeInVideo(media), duration: seconds(media.duration) }),
  progress: (media) => ({ seconds: bufferedUntil(media), duration: seconds(media.duration) }),
};

type Listener = { event: string; id: string | undefined; origin: string };

/**
 * Controls a media element by the player.js conventions: JSON texts with `context`, `version`, `method` or `event`, `value` and
 * `listener`. Apart from `ready`, it sends only the events that a listener has asked for. See docs/embed.md.
 */
export class PlayerJs {
  #media: ControlledMedia;
  readonly #post: Post;
  readonly #listeners: Listener[] = [];
  /** The value of `ready`. */
  readonly #announcement: object;
  #isReady = false;
  /** The value of `error`, until the video plays. */
  #failure: object | undefined;

  /** `src` must be exactly as in the page around the frame: that page recognises the frame by it. */
  constructor(media: ControlledMedia, src: string, post: Post) {
    this.#media = media;
    this.#post = post;
    this.#announcement = {
      src,
      events: ['ready', ...Object.keys(EVENTS), 'error'],
      methods: [...Object.keys(GETTERS), ...Object.keys(ACTIONS), 'addEventListener', 'removeEventListener'],
    };
    this.#observe(media);
  }

  /** Controls another media element from now on. The listeners stay. */
  replaceMedia(media: ControlledMedia): void {
    this.#media = media;
    this.#observe(media);
  }

  /** Reports the events of a media element until another one replaces it. */
  #observe(media: ControlledMedia): void {
    const on = (event: string, act: () => void) =>
      media.addEventListener(event, () => {
        if (media === this.#media) act();
      });
    for (const [event, read] of Object.entries(EVENTS)) on(event, () => this.#emit(event, read(media)));
    on('loadedmetadata', () => this.#ready());
    // A browser that does not preload the video fires `suspend` and no `loadedmetadata`.
    on('suspend', () => this.#ready());
    on('playing', () => {
      this.#failure = undefined;
    });
  }

  /** Reports that the video cannot be played. */
  failed(msg: string): void {
    this.#ready();
    this.#failure = { code: CODES.unspecified, msg };
    this.#emit('error', this.#failure);
  }

  /** Announces the player once, to a page of any origin. */
  #ready(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#send({ event: 'ready', value: this.#announcement }, '*');
  }

  /** Handles a message of the page; others are ignored. */
  receive(data: unknown, origin: string): void {
    const message = parse(data);
    if (message?.context !== CONTEXT || typeof message.method !== 'string') return;
    const { method, value } = message;
    const id = typeof message.listener === 'string' ? message.listener : undefined;
    const get = own(GETTERS, method);
    if (method === 'addEventListener') this.#listen({ event: String(value), id, origin });
    else if (method === 'removeEventListener') this.#forget({ event: String(value), id, origin });
    else if (get !== undefined) this.#send({ event: method, value: get(this.#media), listener: id }, origin);
    else this.#act(method, value);
  }

  #act(method: string, value: unknown): void {
    const act = own(ACTIONS, method);
    if (act !== undefined) act(this.#media, value);
    else this.#emit('error', { code: CODES.noSuchMethod, msg: `There is no method ${method}.` });
  }

  #listen(listener: Listener): void {
    this.#listeners.push(listener);
    // A page that begins to listen late still learns that the player is ready, or cannot play.
    const { event, id, origin } = listener;
    if (event === 'ready' && this.#isReady)
      this.#send({ event, value: this.#announcement, listener: id }, origin);
    if (event === 'error' && this.#failure) this.#send({ event, value: this.#failure, listener: id }, origin);
  }

  #forget({ event, id, origin }: Listener): void {
    for (const [index, each] of [...this.#listeners.entries()].reverse()) {
      const matches = each.event === event && each.origin === origin && (id === undefined || each.id === id);
      if (matches) this.#listeners.splice(index, 1);
    }
  }

  #emit(event: string, value: unknown): void {
    for (const listener of this.#listeners.filter((each) => each.event === event)) {
      this.#send({ event, value, listener: listener.id }, listener.origin);
    }
  }

  #send(content: object, origin: string): void {
    // A page in a sandbox or from a file has the origin `null`, which `postMessage` does not accept.
    const target = origin === 'null' ? '*' : origin;
    this.#post(JSON.stringify({ context: CONTEXT, version: VERSION, ...content }), target);
  }
}

function own<T>(table: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function parse(data: unknown): Record<string, unknown> | undefined {
  try {
    const value: unknown = typeof data === 'string' ? JSON.parse(data) : data;
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function clamp(value: number, max: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(value, 0), max) : 0;
}

/** The time in the video of what is shown, in seconds: the API counts from the first frame. */
function timeInVideo({ currentTime, firstFrameTime = 0 }: ControlledMedia): number {
  return Math.max(0, currentTime - firstFrameTime);
}

/** The duration is not a number before the first playlist. */
function seconds(duration: number): number {
  return Number.isFinite(duration) ? duration : 0;
}

function bufferedUntil({ buffered }: ControlledMedia): number {
  return buffered.length > 0 ? buffered.end(buffered.length - 1) : 0;
}
