import type { Schemas } from '@framelane/client';
import { isoTimeOf } from '../ui/local-time.ts';
import { ACTIONS, RESOURCE_TYPES } from './audit-words.ts';

type AuditEvent = Schemas['AuditEvent'];

/** What the audit log shows, as the address of the page has it. Empty texts mean all. */
export type AuditAddress = {
  resourceId: string;
  resourceType: AuditEvent['resource']['type'] | '';
  action: AuditEvent['action'] | '';
  actorId: string;
  from: string;
  to: string;
};

/** Reads the query of the address. Unknown values mean all. */
export function readAuditAddress(search: string): AuditAddress {
  const values = new URLSearchParams(search);
  const text = (name: string) => values.get(name) ?? '';
  return {
    resourceId: text('resourceId'),
    resourceType: RESOURCE_TYPES.find((each) => each === text('resourceType')) ?? '',
    action: ACTIONS.find((each) => each === text('action')) ?? '',
    actorId: text('actorId'),
    from: isoTimeOf(text('from')) === undefined ? '' : text('from'),
    to: isoTimeOf(text('to')) === undefined ? '' : text('to'),
  };
}

/** The query of an address, without what means all. */
export function writeAuditAddress(address: AuditAddress): string {
  return new URLSearchParams(Object.entries(address).filter(([, value]) => value !== '')).toString();
}

/** The parameters of the API. */
export function auditQueryOf({ resourceId, resourceType, action, actorId, from, to }: AuditAddress) {
  const [createdAfter, createdBefore] = [isoTimeOf(from), isoTimeOf(to)];
  return {
    ...(resourceId !== '' && { resourceId }),
    ...(resourceType !== '' && { resourceType }),
    ...(action !== '' && { action }),
    ...(actorId !== '' && { actorId }),
    ...(createdAfter !== undefined && { createdAfter }),
    ...(createdBefore !== undefined && { createdBefore }),
  };
}
