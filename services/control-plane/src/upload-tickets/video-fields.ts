import type { components } from '@framelane/openapi/types';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Environment, Metadata, PlaybackPolicy } from '../db/schema.ts';
import type { KeepSource } from '../videos/keep-source.ts';

/** What a new video gets from the request for it, whether by a ticket or by an import. */
export type VideoFields = {
  workspaceId: string;
  environment: Environment;
  title: string | undefined;
  metadata: Metadata | undefined;
  tags: string[] | undefined;
  passthrough: string | undefined;
  playbackPolicy: PlaybackPolicy | undefined;
  /** Undefined for those of the installation. */
  allowedOrigins: string[] | undefined;
  /** Undefined for the default of the installation. */
  keepSource: KeepSource | undefined;
};

/** Reads them from a validated request. */
export function readVideoFields(req: Request): VideoFields {
  const { workspace_id: workspaceId, environment } = credentialOf(req);
  const body: components['schemas']['UploadTicketRequest'] | components['schemas']['ImportRequest'] =
    req.body;
  const { title, metadata, tags, passthrough, playbackPolicy, allowedOrigins, keepSource } = body;
  const own = { title, metadata, tags, passthrough, playbackPolicy, allowedOrigins, keepSource };
  return { workspaceId, environment, ...own };
}
