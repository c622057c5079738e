import './elements.ts';
import type { HlsConfig } from 'hls.js';
import { Hls } from 'hls-video-element';
import { correctRoles } from './accessible-roles.ts';
import { offerAudioOnly, withoutPictures } from './audio-only.ts';
import { styleCaptions } from './caption-menus.ts';
import { showChapters } from './chapters.ts';
import type { StreamVideo } from './elements.ts';
import { offerKeyboardHelp } from './keyboard-help.ts';
import { listenForKeys } from './keys.ts';
import { joinMediaSession, showInMediaSession } from './media-session.ts';
import type { Options } from './options.ts';
import { pagePath } from './page-path.ts';
import { PreviewView } from './preview-view.ts';
import { offerRemotePlayback } from './remote-button.ts';
import { keepPosition, keptPosition } from './resume.ts';
import { markSilence } from './sound.ts';
import { markStages } from './stages.ts';
import type { Source, State } from './state.ts';
import { listenForTouch } from './touch.ts';

/** The player in the page. */
export type Player = {
  media: HTMLVideoElement;
  /** Plays from these addresses, at the position that was reached. */
  load(source: Source): void;
  /** Shows how much of a video is ready that is not ready as a whole. */
  showState(state: State): void;
  /** Removes it from the page. */
  remove(): void;
};

/** Why playback has stopped: something may be missing for now, or the browser cannot play the video. */
export type Failure = 'interrupted' | 'unsupported';

type OnFailure = (failure: Failure) => void;

/** A media element that can begin at a position in seconds. */
type Backend = {
  media: HTMLVideoElement;
  open(hls: string, position: number): void;
  /** Calls `play` as soon as playback can begin. */
  start(play: () => void): void;
};

/** If a segment does not arrive, hls.js retries it twice. Then the page retries it after longer waits, with a message. */
const RETRY = { maxNumRetry: 2, retryDelayMs: 500, maxRetryDelayMs: 2000 };
const CONFIG: Partial<HlsConfig> = {
  // The Content-Security-Policy of the page allows no workers.
  enableWorker: false,
  fragLoadPolicy: {
    // The control plane holds a request for a segment that is not transcoded yet for up to 15 s.
    default: { maxTimeToFirstByteMs: 20_000, maxLoadTimeMs: 120_000, timeoutRetry: RETRY, errorRetry: RETRY },
  },
};

/** Attempts to repair the decoder within `REPAIR_MS` before the video counts as unplayable. */
const REPAIRS = 2;
const REPAIR_MS = 5000;

/**
 * Shows the controls and plays. Apple's browsers play HLS themselves, with their own menus for audio and captions; all others use
 * hls.js. Chromium reports that it may play HLS, so `canPlayType` proves nothing.
 */
export function showPlayer(
  place: HTMLElement,
  source: Source,
  options: Options,
  onFailure: OnFailure,
): Player {
  const template = document.querySelector<HTMLTemplateElement>('#controls');
  const controller = template?.content.querySelector<HTMLElement>('media-controller');
  if (!controller) throw new Error('The page has no controls');
  const root = document.importNode(controller, true);
  const { media, open, start } = navigator.vendor.startsWith('Apple')
    ? nativeVideo(onFailure)
    : streamVideo(onFailure);
  media.slot = 'media';
  for (const name of ['playsinline', 'crossorigin']) media.setAttribute(name, '');
  media.toggleAttribute('muted', options.muted);
  media.muted = options.muted;
  media.preload = 'metadata';
  media.loop = options.loop;
  root.prepend(media);
  place.replaceChildren(root);
  correctRoles(root);
  const removal = new AbortController();
  const { signal } = removal;
  listenForKeys(root, media, signal);
  listenForTouch(root, media, signal);
  offerKeyboardHelp(root, signal);
  offerRemotePlayback(root, media, signal);
  joinMediaSession(media, signal);
  styleCaptions(root, media, options.remember, signal);
  markStages(root, media);
  markSilence(root, media);
  const preview = new PreviewView(root, media);

  const video = pagePath(location);
  let position = options.start ?? (options.remember ? keptPosition(video) : 0);
  if (options.remember) keepPosition(media, video, signal);
  let loading = new AbortController();
  let given = source;
  let audioOnly = false;
  const load = (wanted: Source) => {
    given = wanted;
    const next = audioOnly ? withoutPictures(wanted) : wanted;
    if (media.readyState > 0) position = media.currentTime;
    // Otherwise another stream begins at the usual speed.
    media.defaultPlaybackRate = media.playbackRate;
    showPoster(root, media, next);
    showInMediaSession(next.poster);
    showStoryboard(media, next.storyboard);
    loading.abort();
    loading = new AbortController();
    void showChapters(media, next.chapters, AbortSignal.any([loading.signal, signal]));
    open(next.hls, position);
  };
  load(source);
  offerAudioOnly(
    root,
    media,
    () => given.audioOnly === true,
    (only) => {
      audioOnly = only;
      load(given);
    },
  );
  if (options.autoplay) start(() => void playAloud(media));
  const remove = () => {
    removal.abort();
    root.remove();
  };
  return { media, load, showState: (state) => preview.update(state), remove };
}

function nativeVideo(onFailure: OnFailure): Backend {
  const media = document.createElement('video');
  // Only code 3 is certain. Code 4 can mean a lost connection or a format that the browser cannot play.
  media.addEventListener('error', () => onFailure(media.error?.code === 3 ? 'unsupported' : 'interrupted'));
  const open = (hls: string, position: number) => {
    // Only the images are new.
    if (media.getAttribute('src') === hls && media.error === null) return;
    const wasPlaying = !media.paused;
    const resume = () => {
      media.currentTime = position;
      if (wasPlaying) media.play().catch(() => {});
    };
    media.addEventListener('loadedmetadata', resume, { once: true });
    media.setAttribute('src', hls);
  };
  return { media, open, start: (play) => play() };
}

function streamVideo(onFailure: OnFailure): Backend {
  const media = document.createElement('framelane-video') as StreamVideo;
  media.onLoad = (hls) => {
    if (!hls) return onFailure('unsupported');
    watch(hls, onFailure);
    media.addEventListener('loadeddata', () => keepOneCodec(hls), { once: true });
  };
  const open = (hls: string, position: number) => {
    const wasPlaying = !media.paused;
    media.config = { ...CONFIG, startPosition: position > 0 ? position : -1 };
    const isOpen = media.getAttribute('src') === hls;
    // Buffered data stays.
    if (isOpen && media.api?.levels.length) {
      media.api.startLoad(media.readyState > 0 ? -1 : position);
      return;
    }
    if (isOpen) void media.load();
    else media.setAttribute('src', hls);
    if (wasPlaying) start(() => void media.play().catch(() => {}));
  };
  // When hls.js attaches its media source, the browser aborts an earlier `play()`.
  const start = (play: () => void) => media.addEventListener('loadedmetadata', play, { once: true });
  return { media, open, start };
}

/** Plays; muted if the browser refuses audible video. The controls have a button to unmute. */
async function playAloud(media: HTMLVideoElement): Promise<void> {
  try {
    await media.play();
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'NotAllowedError')) return;
    media.muted = true;
    await media.play().catch(() => {});
  }
}

/** The poster of a video goes when playback begins. That of sound alone stays, with the controls. */
function showPoster(root: HTMLElement, media: HTMLElement, { audioOnly = false, poster }: Source): void {
  root.classList.toggle('sound', audioOnly);
  for (const bar of root.querySelectorAll('media-control-bar')) bar.toggleAttribute('noautohide', audioOnly);
  media.style.backgroundImage = audioOnly && poster !== null ? `url(${JSON.stringify(poster)})` : '';
  root.querySelector('media-poster-image')?.setAttribute('src', poster ?? '');
}

function showStoryboard(media: HTMLVideoElement, url: string | null): void {
  media.querySelector('track')?.remove();
  if (url === null) return;
  const track = document.createElement('track');
  Object.assign(track, { kind: 'metadata', label: 'thumbnails', default: true, src: url });
  media.append(track);
}

/**
 * Leaves only the renditions in the codec that plays. Otherwise hls.js changes to H.264 when a segment loads too slowly, and the menu lists each quality
 * once for each codec. Not earlier than the first frame: until then, hls.js can try another codec.
 */
function keepOneCodec(hls: Hls): void {
  const playing = hls.levels[hls.currentLevel === -1 ? hls.loadLevel : hls.currentLevel];
  for (const [at, { codecSet }] of [...hls.levels.entries()].toReversed())
    if (playing !== undefined && codecSet !== playing.codecSet) hls.removeLevel(at);
}

/** Repairs what hls.js can repair, and reports the rest. */
function watch(hls: Hls, onFailure: OnFailure): void {
  let repairs: number[] = [];
  hls.on(Hls.Events.ERROR, (_event, { fatal, type, details }) => {
    if (!fatal) return;
    repairs = repairs.filter((time) => time > Date.now() - REPAIR_MS);
    if (type === Hls.ErrorTypes.NETWORK_ERROR && details !== Hls.ErrorDetails.MANIFEST_PARSING_ERROR) {
      onFailure('interrupted');
    } else if (type === Hls.ErrorTypes.MEDIA_ERROR && repairs.length < REPAIRS) {
      repairs.push(Date.now());
      hls.recoverMediaError();
    } else onFailure('unsupported');
  });
}
