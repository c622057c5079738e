import { ApiError, ConnectionError, FramelaneError, type Problem } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { CliError } from './cli-error.ts';
import { explain } from './explain.ts';

const problem = (code: string, errors: Problem['errors'] = []) =>
  new ApiError('It is wrong.', { code, status: 400, requestId: 'req_1', problem: { errors } as Problem });

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const FIELD = { field: 'body/title', code: 'type', message: 'must be a text' };

test.each([
  ['an error of this program', new CliError('Do this.'), 'Do this.'],
  ['a text that would clear the screen', new CliError('a\u001b[2J\nb'), 'a\\u001b[2J\nb'],
  ['a problem', problem('video_not_found'), 'It is wrong.\n(video_not_found, request req_1)'],
  [
    'a problem with one field',
    problem('validation_failed', [FIELD]),
    'It is wrong.\n(validation_failed, request req_1)',
  ],
  [
    'a problem with several fields',
    problem('validation_failed', [FIELD, FIELD]),
    'It is wrong.\n  body/title: must be a text\n  body/title: must be a text\n(validation_failed, request req_1)',
  ],
  [
    'a key that is not valid any more',
    problem('revoked_api_key'),
    'It is wrong.\nSign in again with "framelane login".\n(revoked_api_key, request req_1)',
  ],
  [
    'a server that does not run',
    new ConnectionError('http://localhost:1/v1', new TypeError('fetch failed', { cause: refused })),
    'http://localhost:1 sent no complete response. Nothing answers there. Is Framelane running? "framelane start" starts it on this machine.',
  ],
  [
    'addresses of which none answers',
    new ConnectionError('http://localhost:1/v1', new TypeError('', { cause: new AggregateError([refused]) })),
    'http://localhost:1 sent no complete response. Nothing answers there. Is Framelane running? "framelane start" starts it on this machine.',
  ],
  [
    'a connection that breaks for another reason',
    new ConnectionError('http://localhost:1/v1'),
    'http://localhost:1 sent no complete response. Check the URL and the network, and try again.',
  ],
  [
    'a response from elsewhere',
    new FramelaneError('Not from Framelane.', { code: 'unexpected_response' }),
    'Not from Framelane.',
  ],
  [
    'an error of the file system',
    Object.assign(new Error("EACCES: permission denied, open 'a'"), { syscall: 'open' }),
    "EACCES: permission denied, open 'a'.",
  ],
  [
    'a mistake of this program',
    new TypeError('x is not a function'),
    'This should not have happened: x is not a function',
  ],
])('explains %s in words', (_what, error, expected) => {
  expect(explain(error)).toBe(expected);
});
