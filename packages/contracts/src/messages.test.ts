import { expect, test } from '@jest/globals';
import { redeemTicketRequest } from './internal-api.ts';
import { createMessage, parseMessage } from './messages.ts';

test('unknown fields, which a newer release may send, are ignored', () => {
  const message = createMessage('upload.progress', { videoId: 'v', transferId: 't' });
  const newer = { ...message, added: 1, data: { ...message.data, added: { nested: 1 } } };
  expect(parseMessage(newer)).toEqual(message);
  const request = { token: 'ut_x', contentLength: null, clientAddress: null, claimId: 'c' };
  expect(redeemTicketRequest.parse({ ...request, added: 1 })).toEqual(request);
});
