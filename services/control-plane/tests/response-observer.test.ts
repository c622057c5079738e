import { createServer } from 'node:http';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import { expect, test } from '@jest/globals';
import { ResponseObserver } from './support/response-observer.ts';

/** Responds like the operation for the usage of a workspace, with an invalid body. The path of a request is the status. */
const server = createServer((req, res) => {
  Object.assign(req, { openapi: { openApiRoute: '/v1/auth/usage' } });
  res.statusCode = Number(req.url?.slice(1));
  res.setHeader('content-type', 'application/json');
  res.write('{"videos":');
  res.end('"many"}');
});
const port = await listen(server, { port: 0, host: '127.0.0.1', variable: 'PORT' });
const observer = new ResponseObserver();

test('reports each violation of the contract by its servers once', async () => {
  await fetch(`http://127.0.0.1:${port}/298`);
  observer.add(port);
  for (const path of ['200', '299', '200']) await (await fetch(`http://127.0.0.1:${port}/${path}`)).text();
  await closeServer(server, 1000);
  expect(() => observer.close()).toThrow(
    /^Not as in the contract:\nGET \/auth\/usage 200: body.*\nGET \/auth\/usage 299: get \/auth\/usage responds with 299 undefined$/,
  );
});
