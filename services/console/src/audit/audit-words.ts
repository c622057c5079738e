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
};

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

/** What was changed, e.g. `Updated video vid_1: title, tags`. */
export function changeWords({ action, resource, fields }: AuditEvent): string {
  const done = `${action.charAt(0).toUpperCase()}${action.slice(1)}`;
  const part = resource.part === null || resource.part === '' ? '' : ` ${resource.part} of`;
  const changed = fields.length === 0 ? '' : `: ${fields.join(', ')}`;
  return `${done} ${RESOURCES[resource.type]}${part} ${resource.id}${changed}`;
}
