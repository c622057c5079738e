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
  reportNoRoomRequest,
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

  /** Adds a route. The response is the result of its handler, or 204 without one. */
  function post<S extends z.ZodType>(
    path: string,
    schema: S,
    handle: (request: z.infer<S>) => Promise<unknown>,
  ): void {
    router.post(path, async (req, res) => {
      const result = await handle(read(schema, req.body));
      if (result === undefined) res.status(204).end();
      else res.json(result);
    });
  }

  post(INTERNAL_PATHS.redeemTicket, redeemTicketRequest, (request) =>
    guard(request.clientAddress, () => tickets.redeem(request)),
  );
  post(INTERNAL_PATHS.completeTransfer, completeTransferRequest, async (request) => {
    const completion = await tickets.complete(request);
    if (completion === 'expired') throw ticketExpired();
    if (completion === 'cancelled') throw uploadCancelled();
  });
  post(INTERNAL_PATHS.releaseTransfer, releaseTransferRequest, (request) => tickets.release(request));
  post(INTERNAL_PATHS.checkTransfer, checkTransferRequest, async (request) => ({
    current: await tickets.isCurrent(request),
  }));

  post(INTERNAL_PATHS.claimImport, claimImportRequest, async (request) => ({
    import: await imports.claim(request),
  }));
  post(INTERNAL_PATHS.importProgress, importProgressRequest, async (request) => ({
    current: await imports.progress(request),
  }));
  post(INTERNAL_PATHS.endImportTry, endImportTryRequest, (request) => imports.endTry(request));
  post(INTERNAL_PATHS.checkImports, checkImportsRequest, async ({ workspaceId }) => ({
    waiting: await imports.doesOtherWait(workspaceId),
  }));

  post(INTERNAL_PATHS.createResumable, createResumableRequest, (request) =>
    guard(request.clientAddress, () => resumableUploads.create(request)),
  );
  post(INTERNAL_PATHS.openResumable, openResumableRequest, (request) =>
    guard(request.clientAddress, () => resumableUploads.open(request)),
  );
  post(INTERNAL_PATHS.saveResumable, saveResumableRequest, (request) => resumableUploads.save(request));
  post(INTERNAL_PATHS.terminateResumable, terminateResumableRequest, (request) =>
    guard(request.clientAddress, () => resumableUploads.terminate(request)),
  );

  post(INTERNAL_PATHS.storePlan, storePlanRequest, (request) => tasks.storePlan(request));
  post(INTERNAL_PATHS.claimTask, claimTaskRequest, (request) => tasks.claim(request));
  post(INTERNAL_PATHS.checkTask, checkTaskRequest, async (request) => ({
    current: await tasks.isCurrent(request),
  }));

  post(INTERNAL_PATHS.reportNoRoom, reportNoRoomRequest, (request) => tasks.reportNoRoom(request));

  post(INTERNAL_PATHS.announceEngine, announceEngineRequest, (request) => engines.announce(request));

  return router;
}

function read<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body);
  if (!result.success) throw new Problem('validation_failed', result.error.message);
  // Engines pass on text of clients and of media files.
  refuseUnstorableText(result.data, 'body');
  return result.data;
}
