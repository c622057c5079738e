import { expect, test } from '@jest/globals';
import { forgetUpload, uploadVideo } from './browser.ts';
import type { UploadTicket } from './contract.ts';

/** The video of the ticket with which a file would be sent. */
async function videoOf(file: File, videoId: string, scope?: string): Promise<string> {
  const controller = new AbortController();
  let used = 'none';
  const upload = uploadVideo(file, async () => ({ videoId }) as UploadTicket, {
    scope,
    signal: controller.signal,
    onTicket: (ticket) => {
      used = ticket.videoId;
      controller.abort();
    },
  });
  await expect(upload).rejects.toMatchObject({ name: 'AbortError' });
  return used;
}

test('a kept ticket is used again for the same file and scope, until it is forgotten', async () => {
  const file = new File(['12345'], 'a.mp4', { lastModified: 1 });
  expect(await videoOf(file, 'vid_1')).toBe('vid_1');
  expect(await videoOf(file, 'vid_2', '/tickets')).toBe('vid_2');
  expect(await videoOf(file, 'vid_3')).toBe('vid_1');
  expect(await videoOf(file, 'vid_4', '/tickets')).toBe('vid_2');
  forgetUpload(file, { scope: '/tickets' });
  expect(await videoOf(file, 'vid_5', '/tickets')).toBe('vid_5');
  expect(await videoOf(file, 'vid_6')).toBe('vid_1');
});
