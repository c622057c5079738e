import { beforeEach, expect, jest, test } from '@jest/globals';
import type { UploadReceipt, UploadTicket } from './contract.ts';
import { FramelaneError } from './framelane-error.ts';
import { uploadWithKeptTicket } from './kept-ticket.ts';

const ticket = (videoId: string) => ({ videoId, uploadToken: videoId }) as UploadTicket;
const arrived = async ({ videoId }: UploadTicket) => ({ videoId, size: 7 }) as UploadReceipt;
const failing = (code: string) => async (): Promise<UploadReceipt> => {
  throw new FramelaneError('No.', { code });
};

let stored: UploadTicket | null;
const kept = {
  get: () => stored,
  set: (next: UploadTicket) => {
    stored = next;
  },
  delete: () => {
    stored = null;
  },
};
const requestTicket = jest.fn(async () => ticket('vid_new'));
beforeEach(() => {
  stored = null;
  requestTicket.mockClear();
});

test('keeps a new ticket while the file is sent, and forgets it afterwards', async () => {
  const receipt = await uploadWithKeptTicket(7, kept, requestTicket, async (sent) => {
    expect(stored).toEqual(sent);
    return arrived(sent);
  });
  expect(receipt.videoId).toBe('vid_new');
  expect(stored).toBeNull();
});

test('continues with the kept ticket', async () => {
  stored = ticket('vid_old');
  expect((await uploadWithKeptTicket(7, kept, requestTicket, arrived)).videoId).toBe('vid_old');
  expect(requestTicket).not.toHaveBeenCalled();
});

test('keeps the ticket of an upload that was interrupted', async () => {
  await expect(uploadWithKeptTicket(7, kept, requestTicket, failing('connection_failed'))).rejects.toThrow(
    'No.',
  );
  expect(stored).toEqual(ticket('vid_new'));
});

test('replaces a kept ticket that is not valid any more', async () => {
  stored = ticket('vid_old');
  const send = (sent: UploadTicket) =>
    sent.videoId === 'vid_old' ? failing('upload_token_expired')() : arrived(sent);
  expect((await uploadWithKeptTicket(7, kept, requestTicket, send)).videoId).toBe('vid_new');
  expect(stored).toBeNull();
});

test('a kept ticket that was used means that the file has arrived', async () => {
  stored = ticket('vid_old');
  expect(await uploadWithKeptTicket(7, kept, requestTicket, failing('upload_token_used'))).toMatchObject({
    videoId: 'vid_old',
    size: 7,
  });
  expect(stored).toBeNull();
});

test('forgets a new ticket that is refused', async () => {
  await expect(uploadWithKeptTicket(7, kept, requestTicket, failing('upload_token_used'))).rejects.toThrow(
    'No.',
  );
  expect(stored).toBeNull();
  expect(requestTicket).toHaveBeenCalledTimes(1);
});
