import { methodMessage, REQUESTED_EVENTS, readMessage } from './player-messages.ts';

/** What happens in a frame. `ready` also happens again after the page in the frame has loaded again. */
export type FrameHandlers = {
  onEvent: (name: string, value: unknown) => void;
  onTokenExpired: () => void;
};

/** The player page in a frame. Calls wait until the page has a player. */
export class PlayerFrame {
  readonly #frame: HTMLIFrameElement;
  readonly #origin: string;
  readonly #handlers: FrameHandlers;
  readonly #listening = new AbortController();
  readonly #responses = new Map<string, (value: unknown) => void>();
  #waiting: string[] = [];
  #isReady = false;
  #isLoaded = false;
  /** A token that the page gets as soon as it is loaded: before, it does not listen. */
  #nextToken: string | undefined;
  #calls = 0;

  /** Begins to listen. The frame may load its page, at `origin`, afterwards. */
  constructor(frame: HTMLIFrameElement, origin: string, handlers: FrameHandlers) {
    this.#frame = frame;
    this.#origin = origin;
    this.#handlers = handlers;
    const { signal } = this.#listening;
    window.addEventListener('message', (event) => this.#receive(event), { signal });
    frame.addEventListener('load', () => this.#loaded(), { signal });
  }

  /** Stops listening. Calls without a response stay pending. */
  close(): void {
    this.#listening.abort();
    this.#responses.clear();
    this.#waiting = [];
  }

  /** Calls a method that has no response. */
  call(method: string, value?: unknown): void {
    this.#send(methodMessage(method, value));
  }

  /** Calls a method that has a response. */
  get(method: string): Promise<unknown> {
    this.#calls += 1;
    const listener = `framelane-${this.#calls}`;
    return new Promise((resolve) => {
      this.#responses.set(listener, resolve);
      this.#send(methodMessage(method, undefined, listener));
    });
  }

  /** Gives the page another token, also before it has a player. */
  setToken(token: string): void {
    if (this.#isLoaded)
      this.#frame.contentWindow?.postMessage({ event: 'framelane:setToken', token }, this.#origin);
    else this.#nextToken = token;
  }

  #loaded(): void {
    this.#isLoaded = true;
    if (this.#nextToken !== undefined) this.setToken(this.#nextToken);
    this.#nextToken = undefined;
  }

  #send(message: string): void {
    if (this.#isReady) this.#frame.contentWindow?.postMessage(message, this.#origin);
    else this.#waiting.push(message);
  }

  #receive({ source, origin, data }: MessageEvent): void {
    if (source !== this.#frame.contentWindow || origin !== this.#origin) return;
    const message = readMessage(data);
    if (message === undefined) return;
    if (message.type === 'token-expired') {
      this.#handlers.onTokenExpired();
    } else if (message.type === 'response') {
      this.#respond(message.listener, message.value);
    } else {
      if (message.name === 'ready') this.#start();
      this.#handlers.onEvent(message.name, message.value);
    }
  }

  #respond(listener: string, value: unknown): void {
    this.#responses.get(listener)?.(value);
    this.#responses.delete(listener);
  }

  #start(): void {
    this.#isReady = true;
    for (const event of REQUESTED_EVENTS) this.call('addEventListener', event);
    const messages = this.#waiting;
    this.#waiting = [];
    for (const message of messages) this.#send(message);
  }
}
