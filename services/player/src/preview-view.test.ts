import { expect, test } from '@jest/globals';
import { PreviewView } from './preview-view.ts';

Object.assign(globalThis, { HTMLMediaElement: { HAVE_FUTURE_DATA: 3 } });

/** The view of a video of 200 s whose viewer is at 160 s, and the line that says when this part is ready. */
function viewOf(duration: number) {
  const wait = { textContent: '' };
  const root = {
    style: { setProperty: () => {} },
    querySelector: (name: string) => (name === '.wait' ? wait : null),
  };
  const media = Object.assign(new EventTarget(), { currentTime: 160, duration, readyState: 1 });
  const view = new PreviewView(root as unknown as HTMLElement, media as unknown as HTMLMediaElement);
  return { view, wait };
}

const PREVIEW = { status: 'preparing', progress: 20, hls: '/v1/hls/a' } as const;

test('says that a part is missing, until the video has failed', () => {
  const { view, wait } = viewOf(200);
  view.update(PREVIEW);
  expect(wait.textContent).toBe('This part is not ready yet.');
  view.update({ status: 'waiting' });
  expect(wait.textContent).toBe('This part is not ready yet.');
  view.update({ status: 'failed' });
  expect(wait.textContent).toBe('');
});

test('a video whose duration is not known yet is loading: no part of it is missing', () => {
  const { view, wait } = viewOf(Number.NaN);
  view.update(PREVIEW);
  expect(wait.textContent).toBe('');
});
