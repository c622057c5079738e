import type { components } from '@framelane/openapi/types';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Environment, Metadata, PlaybackPolicy } from '../db/schema.ts';
import type { KeepSource } from '../videos/keep-source.ts';

/** The fields of a new video that its request sets, for a ticket or for an import. */
export type VideoFields = {
  workspaceId: string;
  environment: Environment;
  title: string | undefined;
  metadata: Metadata | undefined;
  tags: string[] | undefined;
  passthrough: string | undefined;
  playbackPolicy: PlaybackPolicy | undefined;
  /** Undefined for the origins of the installation. */
  allowedOrigins: string[] | undefined;
  /** Undefined for the default of the installation. */
  keepSource: KeepSource | undefined;
};

/** Reads these fields from a validated request. */
export function readVideoFields(req: Request): VideoFields {
  const { workspace_id: workspaceId, environment } = credentialOf(req);
  const body: components['schemas']['UploadTicketRequest'] | components['schemas']['ImportRequest'] =
    req.body;
  const { title, metadata, tags, passthrough, playbackPolicy, allowedOrigins, keepSource } = body;
  const own = { title, metadata, tags, passthrough, playbackPolicy, allowedOrigins, keepSource };
  return { workspaceId, environment, ...own };
}
