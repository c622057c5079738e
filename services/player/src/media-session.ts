/** Seconds that the keys of a headset or a phone's lock screen seek, unless the browser says otherwise. */
const SEEK_SECONDS = 10;

/** Shows title and poster where the browser controls media (lock screen, headset, media keys), and handles its actions, until `signal` aborts. */
export function joinMediaSession(media: HTMLMediaElement, signal: AbortSignal): void {
  if (!('mediaSession' in navigator)) return;
  const session = navigator.mediaSession;
  const seek = (seconds: number) => {
    if (Number.isFinite(media.duration)) media.currentTime = Math.min(Math.max(seconds, 0), media.duration);
  };
  const handlers: [MediaSessionAction, MediaSessionActionHandler][] = [
    ['play', () => void media.play().catch(() => {})],
    ['pause', () => media.pause()],
    ['seekbackward', ({ seekOffset }) => seek(media.currentTime - (seekOffset ?? SEEK_SECONDS))],
    ['seekforward', ({ seekOffset }) => seek(media.currentTime + (seekOffset ?? SEEK_SECONDS))],
    ['seekto', ({ seekTime }) => seek(seekTime ?? media.currentTime)],
  ];
  for (const [action, handler] of handlers) setHandler(session, action, handler);
  const showPosition = () => {
    const { duration, currentTime, playbackRate } = media;
    if (!Number.isFinite(duration) || playbackRate <= 0) return;
    session.setPositionState({ duration, playbackRate, position: Math.min(currentTime, duration) });
  };
  for (const event of ['loadedmetadata', 'seeked', 'ratechange', 'play', 'pause']) {
    media.addEventListener(event, showPosition, { signal });
  }
  signal.addEventListener('abort', () => {
    for (const [action] of handlers) setHandler(session, action, null);
    session.metadata = null;
  });
}

/** Shows the title of the page and the poster in the media controls of the browser. */
export function showInMediaSession(poster: string | null): void {
  if (!('mediaSession' in navigator)) return;
  const artwork = poster === null ? [] : [{ src: new URL(poster, location.href).href, type: 'image/jpeg' }];
  navigator.mediaSession.metadata = new MediaMetadata({ title: document.title, artwork });
}

/** Browsers throw for an action that they do not know. */
function setHandler(
  session: MediaSession,
  action: MediaSessionAction,
  handler: MediaSessionActionHandler | null,
): void {
  try {
    session.setActionHandler(action, handler);
  } catch {
    // The other actions work.
  }
}
