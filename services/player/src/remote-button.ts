import { MediaChromeButton } from 'media-chrome/dist/media-chrome-button.js';

const ICON = `<svg aria-hidden="true" viewBox="0 0 24 24"><path d="M3 5h18v14h-7v-2h5V7H5v3H3Zm0 13a1 1 0 0 1 1 1H3Zm0-3a4 4 0 0 1 4 4H5a2 2 0 0 0-2-2Zm0-3a7 7 0 0 1 7 7H8a5 5 0 0 0-5-5Z"/></svg>`;

/**
 * A button that opens the browser's list of screens, by the Remote Playback API. media-chrome has a button for Chromecast, but it loads a script of
 * Google. Hidden while the browser knows no screen for this stream.
 */
export class RemoteButton extends MediaChromeButton {
  static override getSlotTemplateHTML = () => `<slot name="icon">${ICON}</slot>`;
  static override getTooltipContentHTML = () => 'Play on another screen';

  #remote: RemotePlayback | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.setAttribute('aria-label', 'play on another screen');
  }

  /** Offers the screens of a media element, until `signal` aborts. */
  offer(media: HTMLMediaElement, signal: AbortSignal): void {
    const { remote } = media;
    if (remote === undefined) return;
    this.#remote = remote;
    const show = (isAvailable: boolean) => {
      this.hidden = !isAvailable && remote.state === 'disconnected';
    };
    // Fails if the browser cannot look for screens in the background.
    remote.watchAvailability(show).catch(() => {});
    signal.addEventListener('abort', () => void remote.cancelWatchAvailability().catch(() => {}));
  }

  override handleClick(): void {
    // Fails if the viewer closes the list.
    this.#remote?.prompt().catch(() => {});
  }
}

customElements.define('remote-button', RemoteButton);

/** Lets the viewer choose another screen, where the browser has this. Safari has its own button for AirPlay. */
export function offerRemotePlayback(root: HTMLElement, media: HTMLMediaElement, signal: AbortSignal): void {
  const button = root.querySelector('remote-button');
  const native = (media as { nativeEl?: HTMLMediaElement }).nativeEl ?? media;
  if (button instanceof RemoteButton && !('webkitShowPlaybackTargetPicker' in native)) {
    button.offer(native, signal);
  }
}
