import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ApiError,
  type FramelaneClient,
  type UploadTicket,
  type UploadTicketRequest,
  type Video,
  VideoFailedError,
} from '@framelane/client';
import { upload } from '@framelane/client/node';
import { CliError } from '../../cli-error.ts';
import { download } from '../http/download.ts';
import { type Pause, pause } from '../http/retrying.ts';
import type { LibraryItem, LibrarySource, Media, Transfer } from '../library-item.ts';
import type { Step } from './next-step.ts';
import { setDetails } from './set-details.ts';
import { MARKS, originsOf, type VideoFields, videoFields } from './video-fields.ts';

/** As long as the API keeps an `Idempotency-Key`: until then the same request returns the same ticket. */
const TICKET_SECONDS = 24 * 60 * 60;
/** The longest URL that the API accepts. Signed URLs can be longer. */
const MAX_URL = 2048;
const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 5_000;

export type ImportContext = {
  client: FramelaneClient;
  transfer: Transfer;
  trustedHosts: LibrarySource['trustedHosts'];
  /** Where files are kept between their download and their upload. */
  workFolder: string;
  /** Whether to wait for the transcode. */
  wait: boolean;
  signal: AbortSignal;
  pause?: Pause;
};

export type ImportedItem = { videoId: string; bytes: number | null; warnings: string[] };

/**
 * Imports a video, or continues its import: creates the video with a mark, sets captions, chapters and poster, gets the file to it, and
 * removes the mark. So a later run finds what is missing, on any machine.
 */
export async function importItem(
  item: LibraryItem,
  step: Extract<Step, { kind: 'create' | 'continue' }>,
  context: ImportContext,
): Promise<ImportedItem> {
  const { client, signal } = context;
  const { fields, warnings } = videoFields(item);
  const details = async (videoId: string) => {
    warnings.push(...(await setDetails(client, videoId, await item.details(), signal)));
  };
  if (step.kind === 'create' && step.replaces !== undefined) await deleteVideo(context, step.replaces);
  const videoId = await withFile(item, { step, fields, details }, context);
  const { size } = await arrival(context, videoId);
  await rm(fetchedPath(item, context), { force: true });
  await client.videos.update(
    videoId,
    { metadata: { [MARKS.importing]: null, [MARKS.importedFrom]: originsOf(item) } },
    { signal },
  );
  if (context.wait) await client.videos.waitUntilReady(videoId, { signal });
  return { videoId, bytes: size, warnings: [...(item.warnings ?? []), ...warnings] };
}

type Work = {
  step: Extract<Step, { kind: 'create' | 'continue' }>;
  fields: VideoFields;
  details: (videoId: string) => Promise<void>;
};

/** Resolves with the video when its file is being fetched, or has arrived. */
async function withFile(item: LibraryItem, work: Work, context: ImportContext): Promise<string> {
  const { step, details } = work;
  const { transfer } = context;
  if (step.kind === 'continue' && (step.file === 'arrived' || (step.file === 'url' && transfer === 'url'))) {
    await details(step.videoId);
    return step.videoId;
  }
  const media = await item.media();
  if (transfer === 'url' && 'url' in media && media.url.length <= MAX_URL) {
    if (step.kind === 'continue') await deleteVideo(context, step.videoId);
    return importUrl(media, work, context);
  }
  return uploadFile(await localFile(item, media, context), work, context);
}

/** An engine fetches the file. */
async function importUrl(
  { url, headers }: Extract<Media, { url: string }>,
  { fields, details }: Work,
  { client, signal }: ImportContext,
): Promise<string> {
  const body = { ...fields, url, ...(headers && { headers }) };
  const { id } = await client.videos.import(body, { signal }).catch(explainRefusedUrl);
  await details(id);
  return id;
}

function explainRefusedUrl(error: unknown): never {
  const [{ field = '', message = '' } = {}] = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  if (field !== 'body/url') throw error;
  throw new CliError(`Framelane does not fetch the file: its URL ${message}. Add --transfer upload.`, {
    cause: error,
  });
}

/** Sends the file. A ticket of an earlier run is used again while it is valid, so the upload continues where it was. */
async function uploadFile(
  path: string,
  { step, fields, details }: Work,
  context: ImportContext,
): Promise<string> {
  const { signal } = context;
  const earlier = step.kind === 'continue' ? step.videoId : undefined;
  const ticket = await openTicket({ ...fields, expiresIn: TICKET_SECONDS }, context);
  if (earlier !== undefined && earlier !== ticket.videoId) await deleteVideo(context, earlier);
  await details(ticket.videoId);
  await upload(path, ticket, { signal });
  return ticket.videoId;
}

/**
 * The same ticket for the same request in every run. The key of a ticket whose video is complete, or was deleted, stays in use: the next key is
 * made from what came of it, so that later runs find the same one.
 */
async function openTicket(body: UploadTicketRequest, context: ImportContext): Promise<UploadTicket> {
  const { client, signal } = context;
  for (let before = ''; ; ) {
    const ticket = await client.uploadTickets
      .create(body, { signal, idempotencyKey: keyOf(body, before) })
      .catch(unlessClosed);
    if (ticket !== undefined && !(await isGone(context, ticket.videoId))) return ticket;
    before = ticket?.videoId ?? `${before} closed`;
  }
}

function keyOf(body: UploadTicketRequest, before: string): string {
  return `import-library-${createHash('sha256')
    .update(JSON.stringify([body, before]))
    .digest('hex')}`;
}

/** A ticket that accepts no upload any more. */
function unlessClosed(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'upload_ticket_closed') return undefined;
  throw error;
}

/** Whether somebody has deleted the video of a repeated response meanwhile. */
async function isGone({ client, signal }: ImportContext, videoId: string): Promise<boolean> {
  try {
    await client.videos.get(videoId, { signal });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return true;
    throw error;
  }
}

async function deleteVideo({ client, signal }: ImportContext, videoId: string): Promise<void> {
  await client.videos.delete(videoId, { signal }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });
}

/** The file on this machine; one that is elsewhere is fetched first. */
async function localFile(item: LibraryItem, media: Media, context: ImportContext): Promise<string> {
  if ('path' in media) return media.path;
  const { workFolder, trustedHosts, signal, pause: wait = pause } = context;
  await mkdir(workFolder, { recursive: true });
  const path = fetchedPath(item, context);
  // An earlier run may have fetched it, but not sent it.
  if (!existsSync(path))
    await download(media.url, path, { headers: media.headers ?? {}, trustedHosts, signal, pause: wait });
  return path;
}

function fetchedPath({ id }: LibraryItem, { workFolder }: ImportContext): string {
  return join(workFolder, createHash('sha256').update(id).digest('hex').slice(0, 32));
}

/** Waits until the file of a video has arrived. Throws if it does not. */
async function arrival(
  { client, signal, pause: wait = pause }: ImportContext,
  videoId: string,
): Promise<Video> {
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_POLL_MS)) {
    const video = await client.videos.get(videoId, { signal });
    if (video.status === 'failed') throw failureOf(video);
    if (video.status !== 'uploading') return video;
    await wait(pauseMs, signal);
  }
}

/** What helps when an engine could not fetch a file. */
function failureOf(video: Video): Error {
  const failure = new VideoFailedError(video);
  if (!failure.code.startsWith('import_')) return failure;
  return new CliError(
    `${failure.message} Run the command again; if engines cannot reach the file, add --transfer upload.`,
    { cause: failure },
  );
}
