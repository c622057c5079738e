import type { operations } from '@framelane/openapi/types';
import type { AuditEventRow } from '../db/schema.ts';

/** Which events of a workspace to list; undefined for all. */
export type AuditFilter = {
  actorId: string | undefined;
  action: AuditEventRow['action'] | undefined;
  resourceType: AuditEventRow['resource_type'] | undefined;
  resourceId: string | undefined;
  createdAfter: Date | undefined;
  createdBefore: Date | undefined;
};

type Query = operations['exportAuditEvents']['parameters']['query'] & {};

/** Reads the validated query of a request. */
export function readAuditFilter(query: object): AuditFilter {
  const { actorId, action, resourceType, resourceId, createdAfter, createdBefore } = query as Query;
  return {
    actorId,
    action,
    resourceType,
    resourceId,
    createdAfter: createdAfter === undefined ? undefined : new Date(createdAfter),
    createdBefore: createdBefore === undefined ? undefined : new Date(createdBefore),
  };
}
