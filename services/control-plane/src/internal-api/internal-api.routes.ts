import {
  announceEngineRequest,
  checkImportsRequest,
  checkTaskRequest,
  checkTransferRequest,
  claimImportRequest,
  claimTaskRequest,
  completeTransferRequest,
  createResumableRequest,
  endImportTryRequest,
  INTERNAL_PATHS,
  importProgressRequest,
  openResumableRequest,
  redeemTicketRequest,
  releaseTransferRequest,
  saveResumableRequest,
  storePlanRequest,
  terminateResumableRequest,
} from '@framelane/contracts/internal-api';
import { Problem } from '@framelane/service-kit/problem';
import { Router } from 'express';
import type { z } from 'zod';
import type { EnginesService } from '../engines/engines.service.ts';
import { refuseUnstorableText } from '../http/unstorable-text.ts';
import type { ImportsService } from '../imports/imports.service.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { TokenGuessLimit } from '../rate-limits/token-guess-limit.ts';
import type { TasksService } from '../tasks/tasks.service.ts';
import type { ResumableUploadsService } from '../upload-tickets/resumable-uploads.service.ts';
import { ticketExpired, uploadCancelled } from '../upload-tickets/ticket-checks.ts';
import type { UploadTicketsService } from '../upload-tickets/upload-tickets.service.ts';

/** The API that engines use; openapi/internal.yaml describes it. */
export function internalApi(
  services: {
    tickets: UploadTicketsService;
    imports: ImportsService;
    resumableUploads: ResumableUploadsService;
    tasks: TasksService;
    engines: EnginesService;
  },
  tokenGuesses: TokenGuessLimit,
): Router {
  const { tickets, imports, resumableUploads, tasks, engines } = services;
  const router = Router();

  /** Counts unknown tokens against the client that sent one. */
  function guard<T>(clientAddress: string | null, work: () => Promise<T>): Promise<T> {
    const client = { ip: clientAddress ?? undefined, socket: { remoteAddress: undefined } };
    return tokenGuesses.guard(clientNetwork(client), work);
  }

  router.post(INTERNAL_PATHS.redeemTicket, async (req, res) => {
    const request = read(redeemTicketRequest, req.body);
    res.json(await guard(request.clientAddress, () => tickets.redeem(request)));
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

  router.post(INTERNAL_PATHS.claimImport, async (req, res) => {
    res.json({ import: await imports.claim(read(claimImportRequest, req.body)) });
  });

  router.post(INTERNAL_PATHS.importProgress, async (req, res) => {
    res.json({ current: await imports.progress(read(importProgressRequest, req.body)) });
  });

  router.post(INTERNAL_PATHS.endImportTry, async (req, res) => {
    await imports.endTry(read(endImportTryRequest, req.body));
    res.status(204).end();
  });

  router.post(INTERNAL_PATHS.checkImports, async (req, res) => {
    const { workspaceId } = read(checkImportsRequest, req.body);
    res.json({ waiting: await imports.doesOtherWait(workspaceId) });
  });

  router.post(INTERNAL_PATHS.createResumable, async (req, res) => {
    const request = read(createResumableRequest, req.body);
    res.json(await guard(request.clientAddress, () => resumableUploads.create(request)));
  });

  router.post(INTERNAL_PATHS.openResumable, async (req, res) => {
    const request = read(openResumableRequest, req.body);
    res.json(await guard(request.clientAddress, () => resumableUploads.open(request)));
  });

  router.post(INTERNAL_PATHS.saveResumable, async (req, res) => {
    res.json(await resumableUploads.save(read(saveResumableRequest, req.body)));
  });

  router.post(INTERNAL_PATHS.terminateResumable, async (req, res) => {
    const request = read(terminateResumableRequest, req.body);
    res.json(await guard(request.clientAddress, () => resumableUploads.terminate(request)));
  });

  router.post(INTERNAL_PATHS.storePlan, async (req, res) => {
    await tasks.storePlan(read(storePlanRequest, req.body));
    res.status(204).end();
  });

  router.post(INTERNAL_PATHS.claimTask, async (req, res) => {
    res.json(await tasks.claim(read(claimTaskRequest, req.body)));
  });

  router.post(INTERNAL_PATHS.checkTask, async (req, res) => {
    res.json({ current: await tasks.isCurrent(read(checkTaskRequest, req.body)) });
  });

  router.post(INTERNAL_PATHS.announceEngine, async (req, res) => {
    await engines.announce(read(announceEngineRequest, req.body));
    res.status(204).end();
  });

  return router;
}

function read<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body);
  if (!result.success) throw new Problem('validation_failed', result.error.message);
  // Engines pass on text of clients and of media files.
  refuseUnstorableText(result.data, 'body');
  return result.data;
}
