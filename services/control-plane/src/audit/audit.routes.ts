import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import { actorOf } from './actor-of-request.ts';
import type { AuditService } from './audit.service.ts';
import { readAuditFilter } from './audit-filter.ts';

export function auditRoutes(audit: AuditService, { publicUrl }: { publicUrl: string }) {
  return {
    listAuditEvents: async (req, res) => {
      const page = await audit.list(credentialOf(req).workspace_id, readAuditFilter(req.query), pageOf(req));
      sendPage(req, res, publicUrl, page);
    },
    exportAuditEvents: async (req, res) => {
      const credential = credentialOf(req);
      const parts = audit.exported(credential.workspace_id, readAuditFilter(req.query));
      // The first page is read before the response begins, so that a failure has a status.
      const header = await parts.next();
      const first = await parts.next();
      if (req.method !== 'HEAD') await audit.recordExport(credential.workspace_id, actorOf(req, credential));
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
