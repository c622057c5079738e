import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { operations } from '@framelane/openapi/types';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import type { AuditService } from './audit.service.ts';
import type { AuditFilter } from './audit-events.store.ts';

type Query = operations['exportAuditEvents']['parameters']['query'] & {};

export function auditRoutes(audit: AuditService, { publicUrl }: { publicUrl: string }) {
  return {
    listAuditEvents: async (req, res) => {
      const page = await audit.list(credentialOf(req).workspace_id, filterOf(req), pageOf(req));
      sendPage(req, res, publicUrl, page);
    },
    exportAuditEvents: async (req, res) => {
      const parts = audit.exported(credentialOf(req).workspace_id, filterOf(req));
      // The first page is read before the response begins, so that a failure has a status.
      const header = await parts.next();
      const first = await parts.next();
      res.set({
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="audit.csv"',
      });
      if (req.method === 'HEAD') return void res.end();
      async function* all() {
        yield `${header.value ?? ''}${first.value ?? ''}`;
        yield* parts;
      }
      await pipeline(Readable.from(all()), res).catch((error: unknown) => {
        // The client has closed the connection.
        if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
      });
    },
  } satisfies Handlers;
}

function filterOf(req: Request): AuditFilter {
  const { actorId, resourceType, resourceId, createdAfter, createdBefore } = req.query as unknown as Query;
  return {
    actorId,
    resourceType,
    resourceId,
    createdAfter: timeOf(createdAfter),
    createdBefore: timeOf(createdBefore),
  };
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
