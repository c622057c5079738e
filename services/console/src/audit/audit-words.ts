import type { Schemas } from '@framelane/client';

type AuditEvent = Schemas['AuditEvent'];

const RESOURCES: Record<AuditEvent['resource']['type'], string> = {
  workspace: 'workspace',
  limits: 'limits of the workspace',
  api_key: 'API key',
  person: 'person',
  sign_in_link: 'sign-in link',
  session: 'session',
  video: 'video',
  captions: 'captions',
  chapters: 'chapters of',
  poster: 'poster of',
  download: 'download',
  auto_captions: 'generated captions',
  watermark: 'watermark',
  webhook: 'webhook',
  audit_log: 'the audit log',
};

const DONE: Record<AuditEvent['action'], string> = {
  created: 'Created',
  updated: 'Updated',
  deleted: 'Deleted',
  signed_in: 'Signed in:',
  signed_out: 'Signed out:',
  refused: 'Refused',
  exported: 'Exported',
};

/** Resources of which the workspace has one: their id says nothing. */
const SINGLE: ReadonlySet<string> = new Set(['limits', 'audit_log']);

/** Why a sign-in link was refused. */
const REASONS: Record<string, string> = { usedAt: 'it was used before', expiresAt: 'it has expired' };

const ACTORS: Record<AuditEvent['actor']['type'], string> = {
  api_key: 'API key',
  person: 'person',
  link: 'sign-in link',
  command_line: 'on the server',
};

/** The kinds of resources with their words, for the filter. */
export const RESOURCE_TYPES = Object.keys(RESOURCES) as AuditEvent['resource']['type'][];

/** Who made a change, e.g. `Website back end (API key)`. */
export function actorWords({ type, name }: AuditEvent['actor']): string {
  return `${name} (${ACTORS[type]})`;
}

/** The kinds of events, for the filter. */
export const ACTIONS = Object.keys(DONE) as AuditEvent['action'][];

/** What was done, e.g. `Updated video vid_1: playbackPolicy public → signed, title`. */
export function changeWords({ action, resource, fields, changes }: AuditEvent): string {
  const part = resource.part === null || resource.part === '' ? '' : ` ${resource.part} of`;
  const id = SINGLE.has(resource.type) ? '' : ` ${resource.id}`;
  const what = `${DONE[action]} ${RESOURCES[resource.type]}${part}${id}`;
  const details = fields.map((field) => {
    if (action === 'refused') return REASONS[field] ?? field;
    const change = changes.find((each) => each.field === field);
    return change === undefined ? field : `${field} ${valuesWords(action, change)}`;
  });
  return details.length === 0 ? what : `${what}: ${details.join(', ')}`;
}

/** Old and new value of a field; only the one that there is if the resource was created or deleted. */
export function valuesWords(
  action: AuditEvent['action'],
  { from, to }: Pick<AuditEvent['changes'][number], 'from' | 'to'>,
): string {
  if (action === 'created') return valueWords(to);
  return action === 'deleted' ? valueWords(from) : `${valueWords(from)} → ${valueWords(to)}`;
}

/** A value of a field, e.g. `videos:read, videos:write`. */
export function valueWords(value: AuditEvent['changes'][number]['from']): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}
