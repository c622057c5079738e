import { expect, test } from '@jest/globals';
import { nextToStart, percentOf, reduce, type UploadAction, type UploadItem } from './upload-items.ts';

const file = new File(['1234567890'], 'a.mp4');
const after = (actions: readonly UploadAction[]) => actions.reduce<readonly UploadItem[]>(reduce, []);
const added = (...ids: number[]): UploadAction => ({ type: 'added', items: ids.map((id) => ({ id, file })) });
const states = (...actions: UploadAction[]) => after(actions).map(({ state }) => state);

test('a file is sent, paused, resumed, and arrives', () => {
  const begun = [added(1), { type: 'started', id: 1 }, { type: 'progress', id: 1, sent: 4 }] as const;
  expect(after(begun)).toEqual([{ id: 1, file, sent: 4, state: 'sending' }]);
  expect(after([...begun, { type: 'paused', id: 1 }])).toEqual([{ id: 1, file, sent: 4, state: 'paused' }]);
  expect(states(...begun, { type: 'paused', id: 1 }, { type: 'resumed', id: 1 })).toEqual(['waiting']);
  expect(after([...begun, { type: 'sent', id: 1 }])).toEqual([{ id: 1, file, sent: 10, state: 'sent' }]);
});

test('only what is not finished can be paused, and only what has stopped can be resumed', () => {
  const error = new Error('x');
  expect(states(added(1), { type: 'sent', id: 1 }, { type: 'paused', id: 1 })).toEqual(['sent']);
  expect(states(added(1), { type: 'sent', id: 1 }, { type: 'resumed', id: 1 })).toEqual(['sent']);
  expect(states(added(1), { type: 'failed', id: 1, error }, { type: 'resumed', id: 1 })).toEqual(['waiting']);
  const refused = { type: 'refused', items: [{ id: 1, file, error }] } as const;
  expect(states(refused, { type: 'resumed', id: 1 })).toEqual(['refused']);
});

test('an action changes one file', () => {
  expect(after([added(1, 2), { type: 'ticket', id: 2, videoId: 'vid_2' }])).toEqual([
    { id: 1, file, sent: 0, state: 'waiting' },
    { id: 2, file, sent: 0, state: 'waiting', videoId: 'vid_2' },
  ]);
  expect(after([added(1, 2), { type: 'removed', id: 1 }]).map(({ id }) => id)).toEqual([2]);
});

test('three files are sent at the same time, in their order', () => {
  const items = after([added(1, 2, 3, 4, 5), { type: 'started', id: 2 }]);
  expect(nextToStart(items).map(({ id }) => id)).toEqual([1, 3]);
  expect(nextToStart(after([added(1), { type: 'started', id: 1 }]))).toEqual([]);
});

test('100 percent means that the file has arrived', () => {
  const item: UploadItem = { id: 1, file, sent: 10, state: 'sending' };
  expect(percentOf(item)).toBe(99);
  expect(percentOf({ ...item, state: 'sent' })).toBe(100);
  expect(percentOf({ ...item, sent: 5 })).toBe(50);
  expect(percentOf({ ...item, file: new File([], 'a') })).toBe(0);
});
