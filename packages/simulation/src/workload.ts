import { callApi, type Response, upload } from './client.ts';
import type { SourceModel } from './source-model.ts';
import type { World } from './world.ts';

/** What clients were told of a video. */
export type KnownVideo = {
  id: string;
  /** The file was accepted: the video is never lost from here on. */
  accepted: boolean;
  ready: boolean;
  /** A client has asked for its deletion; `true` once that was confirmed. */
  deleted: boolean | 'requested';
};

/** Clients that create, upload, poll, retry and delete videos, and remember what they were told. */
export class Workload {
  readonly #world: World;
  readonly videos = new Map<string, KnownVideo>();
  /** What contradicts something that a client was told before. */
  readonly contradictions: string[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Registers an endpoint for all events of videos. A deletion leaves only the events that an endpoint gets. */
  async addWebhook(url: string): Promise<void> {
    const events = ['video.ready', 'video.failed', 'video.deleted'];
    const { status } = await this.#until('owner', 'POST webhook', () =>
      callApi('POST', '/v1/webhooks', { url, events }),
    );
    if (status !== 201) throw new Error(`The endpoint was not registered: ${status}`);
  }

  /** One client with one video. Resolves when it has seen its end, or has deleted it. */
  async run(name: string): Promise<void> {
    const { random, time } = this.#world;
    const source = this.#source();
    const ticket = await this.#until(name, 'POST ticket', () =>
      callApi('POST', '/v1/videos/upload-ticket', { filename: `${name}.mp4` }),
    );
    const { videoId: id, uploadToken: token } = ticket.body as { videoId: string; uploadToken: string };
    const video: KnownVideo = { id, accepted: false, ready: false, deleted: false };
    this.videos.set(id, video);
    const deletesAfter = random.below(4) === 0 ? random.below(180_000) : undefined;
    const deletion =
      deletesAfter === undefined ? undefined : time.sleep(deletesAfter).then(() => this.#delete(name, video));
    await this.#upload(name, video, token, source);
    await this.#poll(name, video);
    await deletion;
  }

  /** Most files are short; some are cut into pieces, and some are no videos. */
  #source(): string {
    const { random } = this.#world;
    if (random.below(10) === 0) return 'This is no video.';
    const segments = 1 + random.below(6);
    const model: SourceModel = { segments, pieces: random.below(2) === 0 ? 1 : segments };
    return JSON.stringify(model);
  }

  async #upload(name: string, video: KnownVideo, token: string, file: string): Promise<void> {
    const { random, time } = this.#world;
    // An impatient client sends the file twice at the same time.
    if (random.below(6) === 0) void this.#send(name, video, token, file);
    while (video.deleted === false) {
      const response = await this.#send(name, video, token, file);
      const code = response?.body.code;
      if (response?.status === 202 || code === 'upload_token_used') return;
      if (['upload_cancelled', 'upload_token_invalid', 'upload_token_expired'].includes(String(code))) return;
      await time.sleep(1_000 + random.below(10_000));
    }
  }

  async #send(name: string, video: KnownVideo, token: string, file: string): Promise<Response> {
    const response = await upload(token, file);
    this.#say(name, `POST upload of ${video.id}`, response);
    if (response?.status === 202) {
      if (video.accepted) this.#contradict(`the token of ${video.id} worked twice`);
      video.accepted = true;
    }
    return response;
  }

  async #poll(name: string, video: KnownVideo): Promise<void> {
    const { random, time, history } = this.#world;
    let shown = { status: '', progress: 0 };
    let afterReady = 3;
    let retries = 1;
    while (video.deleted === false && afterReady > 0) {
      await time.sleep(2_000 + random.below(8_000));
      const before = { ...video };
      const response = await this.#read(video);
      if (response === null) continue;
      const now = response.body as typeof shown;
      if (now.status !== shown.status) history.say(name, `sees ${video.id} ${now.status}`);
      for (const wrong of contradictions(before, shown, now)) this.#contradict(wrong);
      shown = now;
      video.ready ||= now.status === 'ready';
      if (video.ready) afterReady -= 1;
      if (now.status !== 'failed') continue;
      if (retries === 0 || random.below(2) === 0) return;
      retries -= 1;
      shown.progress = 0;
      await this.#retry(name, video);
    }
  }

  async #retry(name: string, { id }: KnownVideo): Promise<void> {
    this.#say(name, `POST retry of ${id}`, await callApi('POST', `/v1/videos/${id}/retry`));
  }

  /** The record of a video; null without a response that says something, and for a deleted video. */
  async #read(video: KnownVideo): Promise<Response> {
    const response = await callApi('GET', `/v1/videos/${video.id}`);
    if (response === null || response.status >= 500) return null;
    if (response.status !== 404) return response;
    if (video.deleted === false) this.#contradict(`${video.id} is gone, but nobody has deleted it`);
    return null;
  }

  async #delete(name: string, video: KnownVideo): Promise<void> {
    video.deleted = 'requested';
    await this.#until(name, `DELETE ${video.id}`, () => callApi('DELETE', `/v1/videos/${video.id}`));
    video.deleted = true;
  }

  /** Repeats a request until its response is final. */
  async #until(name: string, what: string, request: () => Promise<Response>): Promise<NonNullable<Response>> {
    for (;;) {
      const response = await request();
      this.#say(name, what, response);
      if (response !== null && response.status < 500 && response.status !== 429) return response;
      await this.#world.time.sleep(1_000 + this.#world.random.below(5_000));
    }
  }

  #say(name: string, what: string, response: Response): void {
    const outcome = response === null ? 'no response' : `${response.status} ${response.body.code ?? ''}`;
    this.#world.history.say(name, `${what}: ${outcome}`);
  }

  #contradict(what: string): void {
    this.#world.history.say('VIOLATION', what);
    this.contradictions.push(what);
  }
}

/** What a record says that contradicts what its client knew before it asked. */
function contradictions(
  { id, accepted, ready }: KnownVideo,
  before: { progress: number },
  { status, progress }: { status: string; progress: number },
): string[] {
  return [
    ...(ready && status !== 'ready' ? [`${id} was ready, and is ${status}`] : []),
    ...(accepted && status === 'uploading' ? [`${id} was accepted, and is uploading`] : []),
    ...(progress < before.progress
      ? [`the progress of ${id} falls from ${before.progress} to ${progress}`]
      : []),
  ];
}
