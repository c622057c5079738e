/** The elements of the page. style-texts.ts also loads them in Node. */
import { type Hls, HlsVideoElement } from 'hls-video-element';
import 'media-chrome/dist/media-airplay-button.js';
import 'media-chrome/dist/media-captions-button.js';
import 'media-chrome/dist/media-control-bar.js';
import 'media-chrome/dist/media-controller.js';
import 'media-chrome/dist/media-fullscreen-button.js';
import 'media-chrome/dist/media-loading-indicator.js';
import 'media-chrome/dist/media-mute-button.js';
import 'media-chrome/dist/media-pip-button.js';
import 'media-chrome/dist/media-play-button.js';
import 'media-chrome/dist/media-poster-image.js';
import 'media-chrome/dist/media-time-display.js';
import 'media-chrome/dist/media-time-range.js';
import 'media-chrome/dist/media-volume-range.js';
import 'media-chrome/dist/menu/media-audio-track-menu.js';
import 'media-chrome/dist/menu/media-captions-menu.js';
import 'media-chrome/dist/menu/media-chrome-menu-item.js';
import 'media-chrome/dist/menu/media-playback-rate-menu.js';
import 'media-chrome/dist/menu/media-rendition-menu.js';
import 'media-chrome/dist/menu/media-settings-menu.js';
import 'media-chrome/dist/menu/media-settings-menu-button.js';
import 'media-chrome/dist/menu/media-settings-menu-item.js';
import './chapters-menu.ts';
import './remote-button.ts';

/** A video that hls.js plays. */
export class StreamVideo extends HlsVideoElement {
  /** Receives hls.js each time it begins with a stream; undefined if the browser cannot run it. */
  onLoad: (hls: Hls | undefined) => void = () => {};

  /**
   * When the first frame is shown, in seconds of `currentTime`. hls.js begins with the first decoding time, and frames are shown later than that if
   * the video has B-frames.
   */
  get firstFrameTime(): number {
    const last = this.api?.latestLevelDetails?.fragments.at(-1);
    return last === undefined ? 0 : Math.max(0, (last.startPTS ?? last.start) - last.playlistOffset);
  }

  override async load(): Promise<void> {
    await super.load();
    if (this.getAttribute('src') !== null) this.onLoad(this.api ?? undefined);
  }
}

customElements.define('framelane-video', StreamVideo);
