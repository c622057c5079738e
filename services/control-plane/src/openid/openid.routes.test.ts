import { createLogger } from '@framelane/service-kit/logger';
import { expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { SessionCookie } from '../auth/session-cookie.ts';
import { FailureLimit } from '../rate-limits/failure-limit.ts';
import { openIdRoutes } from './openid.routes.ts';
import type { OpenIdSignInService } from './openid-sign-in.service.ts';
import { signInFailure } from './sign-in-failure.ts';

test('a callback that was refused without the cookie completes the sign-in with the cookie', async () => {
  const publicUrl = 'http://framelane.test';
  const signIn = {
    complete: async (_query: string, pending: string) => {
      if (pending !== 'sealed') throw signInFailure('expired', 'The sign-in has expired.');
      return 'token';
    },
  } as unknown as OpenIdSignInService;
  const app = express().use(
    (req, _res, next) => {
      req.id = 'req_1';
      next();
    },
    openIdRoutes({
      signIn,
      cookie: new SessionCookie(publicUrl),
      failures: new FailureLimit(10),
      logger: createLogger({ service: 'test', level: 'silent' }),
      publicUrl,
    }),
  );
  const callBack = (cookie: string) => request(app).get('/callback?code=c&state=s').set('Cookie', cookie);
  expect((await callBack('other=x')).headers.location).toContain('#failure=expired&');
  expect((await callBack('framelane-sign-in=sealed')).headers.location).toBe(`${publicUrl}/console/`);
});
