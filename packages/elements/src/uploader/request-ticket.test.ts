import { expect, test } from '@jest/globals';
import { refusal, ticketOf } from './request-ticket.ts';

const TICKET = {
  videoId: 'vid_1',
  uploadUrl: 'https://e/upload',
  tusUrl: 'https://e/files',
  uploadToken: 'ut_1',
};

test('a ticket may have other members', () => {
  expect(ticketOf({ ...TICKET, embed: 'https://e/' })).toEqual({ ...TICKET, embed: 'https://e/' });
});

test.each([undefined, null, 'text', [], {}, { ...TICKET, tusUrl: undefined, videoId: 1 }])(
  '%j is not a ticket',
  (value) => expect(() => ticketOf(value)).toThrow(expect.objectContaining({ code: 'ticket_invalid' })),
);

test('the error says what the ticket lacks', () => {
  expect(() => ticketOf({ ...TICKET, tusUrl: undefined })).toThrow('The ticket lacks tusUrl. Respond with');
});

test('a problem is passed on, and nothing else', () => {
  expect(refusal(429, { code: 'quota_exceeded', detail: 'The quota is used up.' })).toMatchObject({
    message: 'The quota is used up.',
    code: 'quota_exceeded',
    status: 429,
  });
  for (const answer of [undefined, 'html', { detail: 1 }, { code: 'x' }])
    expect(refusal(500, answer)).toMatchObject({
      message: 'The ticket endpoint responded with 500.',
      code: 'ticket_refused',
    });
  const { code, message } = refusal(400, { detail: 'x'.repeat(9999) });
  expect([code, message.length]).toEqual(['ticket_problem', 500]);
});
