import { expect, jest, test } from '@jest/globals';
import { UploadSlots } from './upload-slots.ts';

const upload = (bytesPerSecond: number | null) => ({
  workspaceId: 'ws_a',
  bytesPerSecond,
  giveWay: jest.fn<() => void>(),
});

test('a slow upload gives way to an admitted one, and not to a request that may still be refused', () => {
  const slots = new UploadSlots(1, 10);
  const slow = upload(1);
  slots.take().admit(slow);
  const refused = slots.take();
  expect(() => slots.take()).toThrow('limit of concurrent uploads');
  refused.free();
  const next = slots.take();
  expect(slow.giveWay).not.toHaveBeenCalled();
  next.admit(upload(null));
  expect(slow.giveWay).toHaveBeenCalledTimes(1);
  expect(() => slots.take()).toThrow('limit of concurrent uploads');
});

test('while a request waits for the control plane, an admitted upload within the limit ends no other', () => {
  const slots = new UploadSlots(2, 10);
  const slow = upload(1);
  slots.take().admit(slow);
  slots.take();
  slots.take().admit(upload(null));
  expect(slow.giveWay).not.toHaveBeenCalled();
});
