import type { Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { isGroup, withGroups } from './failure-groups.ts';

const NOT_FOUND = { code: 'import_host_not_found', message: 'The host was not found.' };
const EXPIRED = { code: 'upload_expired', message: 'No file arrived.' };

let number = 0;
const video = (error: object | null, url?: string) => {
  number += 1;
  return { id: `vid_${number}`, error, import: url === undefined ? null : { url } } as unknown as Video;
};
const imports = (count: number, url = 'https://a.example/clip.mp4', error: object = NOT_FOUND) =>
  Array.from({ length: count }, () => video(error, url));

test('imports from one host that failed alike are one group at the place of the first', () => {
  const [first, last, ready] = [imports(2), imports(1, 'https://a.example/other/name.mov'), video(null)];
  const other = video(null);
  expect(withGroups([other, ...first, ready, ...last])).toEqual([
    other,
    {
      key: 'import_host_not_found a.example',
      words: '3 imports from a.example',
      message: 'The host was not found.',
      videos: [...first, ...last],
    },
    ready,
  ]);
});

test('another host, port or reason is another group', () => {
  const denied = { code: 'import_denied', message: 'Denied.' };
  const videos = [
    ...imports(3),
    ...imports(4, 'https://a.example:8443/clip.mp4'),
    ...imports(5, 'https://a.example/clip.mp4', denied),
  ];
  const groups = withGroups(videos).filter(isGroup);
  expect(groups.map(({ words, message }) => `${words}: ${message}`)).toEqual([
    '3 imports from a.example: The host was not found.',
    '4 imports from a.example:8443: The host was not found.',
    '5 imports from a.example: Denied.',
  ]);
});

test('uploads that never arrived are a group', () => {
  const videos = [video(EXPIRED), video(EXPIRED), video(EXPIRED)];
  expect(withGroups(videos)).toMatchObject([{ words: '3 uploads', message: 'No file arrived.', videos }]);
});

test('few videos, and those that failed for a reason of their own, are rows', () => {
  const broken = { code: 'malformed_media', message: 'Broken.' };
  const videos = [
    ...imports(2),
    video(broken),
    video(broken),
    video(broken),
    ...imports(3, 'no url').slice(1),
  ];
  expect(withGroups(videos)).toEqual(videos);
  expect(withGroups([])).toEqual([]);
});
