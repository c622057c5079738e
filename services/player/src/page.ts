import { Beacons } from './beacons.ts';
import { readOptions } from './options.ts';
import { pictureFor } from './pictures.ts';
import { type Failure, type Player, showPlayer } from './player.ts';
import { PlayerJs } from './player-js.ts';
import { waitBefore, waitForConnection } from './recovery.ts';
import { fetchState, pollAfter, type Source, type State, sourceOf, wordsFor } from './state.ts';

const place = document.querySelector<HTMLElement>('#player');
const message = document.querySelector<HTMLElement>('#message');
const given = document.querySelector('#state')?.textContent;
if (!place || !message || !given) throw new Error('The page is incomplete');

const initial: State = JSON.parse(given);
let options = readOptions(location.search);
if (options.color !== undefined) document.documentElement.style.setProperty('--accent', options.color);

const OFFLINE: State = { status: 'offline' };
const WAITING: State = { status: 'waiting' };
const UNSUPPORTED = 'Your browser cannot play this video.';

/** The URL of the frame, as the page around it has written it. */
const src: string = history.state?.src ?? location.href;

/** The newest token of the viewer. */
let token = options.token;
let player: Player | undefined;
let playerJs: PlayerJs | undefined;
const beacons = Beacons.start();
/** Interruptions since the video last played. */
let interruptions = 0;
/** The source that the player plays. */
let loaded: Source | undefined;
/** Whether playback has stopped since the source was loaded. */
let isInterrupted = false;
/** Whether the browser cannot play the loaded source. */
let isUnsupported = false;
/** Whether the page is recovering from an interruption. */
let recovering = false;
/** Whether playback was interrupted again meanwhile. */
let interruptedAgain = false;
/** Ends the wait for another state. */
let waiting = new AbortController();

/** Shows a state, and waits for the next one until the video plays or cannot play. */
async function follow(first: State): Promise<void> {
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  let state = first;
  let failures = 0;
  for (;;) {
    if (initial.status === 'refused' && state.status !== 'refused' && state.status !== 'offline') {
      loadWithToken();
      return;
    }
    show(state);
    const wait = pollAfter(state, failures);
    if (wait === undefined) return;
    failures = state.status === 'offline' ? failures + 1 : 0;
    await waitForConnection(wait, signal);
    if (signal.aborted) return;
    state = await fetchState(location, token);
    if (signal.aborted) return;
  }
}

/**
 * Loads the page again with the token. Every site may show a refusal in a frame; only the response to a valid token names the sites
 * that may show the video.
 */
function loadWithToken(): void {
  const url = new URL(location.href);
  if (token !== undefined) url.searchParams.set('token', token);
  history.replaceState({ src }, '', url);
  location.reload();
}

function show(state: State): void {
  const source = sourceOf(state);
  if (source !== undefined) play(source);
  else if (state.status === 'preparing') close();
  // A video that still has some buffer plays on.
  const words = state.status === 'offline' && isPlaying() ? '' : wordsFor(state);
  if (source !== undefined && isUnsupported) say(UNSUPPORTED);
  else say(words, pictureFor(state));
  player?.showState(state);
  if (state.status === 'refused' || state.status === 'failed') playerJs?.failed(words);
  if (state.status === 'refused' && state.code === 'playback_token_expired') {
    parent.postMessage('{"event":"framelane:tokenExpired"}', '*');
  }
}

/** Shows a message with a picture; none if the text is empty. */
function say(words: string, picture = 'failed'): void {
  if (!message) return;
  message.dataset.picture = picture;
  if (message.textContent !== words) message.textContent = words;
}

function isPlaying(): boolean {
  return player !== undefined && !player.media.paused && player.media.readyState > 2;
}

/** While the browser is offline, hls.js waits without an error. */
function noticeOffline(): void {
  if (!navigator.onLine && player !== undefined && !player.media.paused) show(OFFLINE);
}

addEventListener('offline', noticeOffline);
addEventListener('online', () => {
  if (player !== undefined && message?.textContent === wordsFor(OFFLINE)) void recover();
});

/** Ends the player. If the video is transcoded again, its segments and its key are no longer those that were played. */
function close(): void {
  if (player === undefined) return;
  const { currentTime, paused, muted, loop } = player.media;
  options = { ...options, start: currentTime, autoplay: !paused, muted, loop };
  player.remove();
  player = undefined;
}

function play(source: Source): void {
  if (loaded !== undefined && loaded.attempt !== source.attempt) close();
  const isNew = JSON.stringify(source) !== JSON.stringify(loaded);
  if (isNew || isInterrupted) {
    isUnsupported = false;
    player?.load(source);
  }
  loaded = source;
  isInterrupted = false;
  if (player !== undefined || !place) return;
  player = showPlayer(place, source, options, onFailure);
  beacons?.follow(player.media);
  player.media.addEventListener('playing', () => {
    interruptions = 0;
    isUnsupported = false;
    if ([wordsFor(OFFLINE), UNSUPPORTED].includes(message?.textContent ?? '')) say('');
  });
  player.media.addEventListener('waiting', noticeOffline);
  if (playerJs === undefined) {
    playerJs = new PlayerJs(player.media, src, (text, origin) => parent.postMessage(text, origin));
  } else playerJs.replaceMedia(player.media);
}

function onFailure(failure: Failure): void {
  beacons?.failed(failure);
  if (failure === 'interrupted') {
    isInterrupted = true;
    void recover();
    return;
  }
  isUnsupported = true;
  say(UNSUPPORTED);
  playerJs?.failed(UNSUPPORTED);
}

/** The state says why playback was interrupted. If the video can still be played, the page tries again, each time after a longer wait. */
async function recover(): Promise<void> {
  if (recovering) {
    interruptedAgain = true;
    return;
  }
  recovering = true;
  interruptedAgain = false;
  // Otherwise the next check of the state would load the source at once.
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  const state = await fetchState(location, token);
  if (sourceOf(state) !== undefined && !signal.aborted) {
    // A part of a video that is being prepared may not be ready yet.
    show(state.status === 'ready' ? OFFLINE : WAITING);
    await waitForConnection(waitBefore(interruptions), signal);
    interruptions += 1;
  }
  recovering = false;
  if (!signal.aborted) await follow(state);
  // Another state has arrived meanwhile, for example with a new token, and its source has failed as well.
  else if (interruptedAgain) await recover();
}

addEventListener('message', ({ source, data, origin }) => {
  if (source !== parent || parent === window) return;
  const next = tokenOf(data);
  if (next === undefined) {
    playerJs?.receive(data, origin);
    return;
  }
  token = next;
  void fetchState(location, next).then((state) => {
    // Otherwise another token has arrived meanwhile.
    if (token === next) void follow(state);
  });
});

/** The token of a message `{ event: 'framelane:setToken', token }`. */
function tokenOf(data: unknown): string | undefined {
  const { event, token } = Object(data);
  return event === 'framelane:setToken' && typeof token === 'string' ? token : undefined;
}

void follow(initial);
