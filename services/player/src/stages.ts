/**
 * Marks the stages of playback for the style sheet: `started` once the video has begun to play, for good. The large button plays again at the end, and
 * says so.
 */
export function markStages(root: HTMLElement, media: HTMLMediaElement): void {
  media.addEventListener('play', () => root.classList.add('started'));
  // media-chrome has written its own name for the button before, when the video paused.
  media.addEventListener('ended', () =>
    root.querySelector('media-play-button.large')?.setAttribute('aria-label', 'play again'),
  );
}
