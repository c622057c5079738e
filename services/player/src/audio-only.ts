import { MediaChromeMenu } from 'media-chrome/dist/menu/media-chrome-menu.js';
import { showChoices } from './choices.ts';
import { hasSound, type Streamed } from './sound.ts';
import type { Source } from './state.ts';

const CHOICES = [
  { name: 'Video', value: 'video' },
  { name: 'Audio only', value: 'audio' },
];

/** A source of the same video without pictures; see `getAudioPlaylist` of the contract. */
export function withoutPictures(source: Source): Source {
  return { ...source, hls: source.hls.replace('/master.m3u8', '/audio.m3u8'), audioOnly: true };
}

/**
 * Fills the menu that plays a video without its pictures, and calls `onChoice` with whether only audio is wanted. The menu is hidden while the video has no
 * sound, and for sound alone.
 */
export function offerAudioOnly(
  root: HTMLElement,
  media: HTMLMediaElement,
  isSoundAlone: () => boolean,
  onChoice: (audioOnly: boolean) => void,
): void {
  const item = root.querySelector<HTMLElement>('.picture');
  const menu = item?.querySelector('media-chrome-menu');
  if (!item || !(menu instanceof MediaChromeMenu)) return;
  showChoices(menu, CHOICES, 'video', (value) => onChoice(value === 'audio'));
  const update = () => {
    item.hidden = isSoundAlone() || !hasSound(media as Streamed);
  };
  for (const event of ['loadedmetadata', 'canplay', 'playing']) media.addEventListener(event, update);
}
