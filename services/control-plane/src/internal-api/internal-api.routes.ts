import {
  checkAttemptRequest,
  checkTransferRequest,
  claimAttemptRequest,
  completeTransferRequest,
  endImportTryRequest,
  INTERNAL_PATHS,
  importProgressRequest,
  redeemTicketRequest,
  releaseTransferRequest,
} from '@framelane/contracts/internal-api';
import { Problem } from '@framelane/service-kit/problem';
import { Router } from 'express';
import type { z } from 'zod';
import type { AttemptsService } from '../attempts/attempts.service.ts';
import type { ImportsService } from '../imports/imports.service.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { TokenGuessLimit } from '../rate-limits/token-guess-limit.ts';
import {
  ticketExpired,
  type UploadTicketsService,
  uploadCancelled,
} from '../upload-tickets/upload-tickets.service.ts';

/** The API that engines use; openapi/internal.yaml describes it. */
export function internalApi(
  tickets: UploadTicketsService,
  imports: ImportsService,
  attempts: AttemptsService,
  tokenGuesses: TokenGuessLimit,
): Router {
  const router = Router();

  router.post(INTERNAL_PATHS.redeemTicket, async (req, res) => {
    const request = read(redeemTicketRequest, req.body);
    const client = { ip: request.clientAddress ?? undefined, socket: { remoteAddress: undefined } };
    res.json(await tokenGuesses.guard(clientNetwork(client), () => tickets.redeem(request)));
  });

  router.post(INTERNAL_PATHS.completeTransfer, async (req, res) => {
    const completion = await tickets.complete(read(completeTransferRequest, req.body));
    if (completion === 'expired') throw ticketExpired();
    if (completion === 'cancelled') throw uploadCancelled();
    res.status(204).end();
  });

  router.post(INTERNAL_PATHS.releaseTransfer, async (req, res) => {
    await tickets.release(read(releaseTransferRequest, req.body));
    res.status(204).end();
  });

  router.post(INTERNAL_PATHS.checkTransfer, async (req, res) => {
    res.json({ current: await tickets.isCurrent(read(checkTransferRequest, req.body)) });
  });

  router.post(INTERNAL_PATHS.claimImport, async (_req, res) => {
    res.json({ import: await imports.claim() });
  });

  router.post(INTERNAL_PATHS.importProgress, async (req, res) => {
    res.json({ current: await imports.progress(read(importProgressRequest, req.body)) });
  });

  router.post(INTERNAL_PATHS.endImportTry, async (req, res) => {
    await imports.endTry(read(endImportTryRequest, req.body));
    res.status(204).end();
  });

  router.post(INTERNAL_PATHS.claimAttempt, async (req, res) => {
    res.json(await attempts.claim(read(claimAttemptRequest, req.body).videoId));
  });

  router.post(INTERNAL_PATHS.checkAttempt, async (req, res) => {
    const { videoId, attempt } = read(checkAttemptRequest, req.body);
    res.json({ current: await attempts.isCurrent({ videoId, number: attempt }) });
  });

  return router;
}

function read<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body);
  if (!result.success) throw new Problem('validation_failed', result.error.message);
  return result.data;
}
