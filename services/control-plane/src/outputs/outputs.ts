import type { OutputName, TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Derivation, DerivationName, DerivationOf } from '@framelane/contracts/outputs/tasks';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import {
  addTranscript,
  failTranscript,
  type StoreTranscript,
  type TranscriptDeps,
  wantedAutoCaptions,
} from './auto-captions.ts';
import type { DerivationFailure } from './derivation-failure.ts';
import { addDownload, type DownloadDeps, failDownload, wantedDownloads } from './downloads.ts';
import { addImages } from './images.store.ts';
import { addPicture, failPicture, wantedPoster } from './pictures.ts';

/** The services that outputs need. */
export type OutputDeps = TranscriptDeps & DownloadDeps;

/** What the outputs of a result need: services, and what `readOutputs` has read. */
export type OutputContext = { deps: OutputDeps; read: ReadOutputs };

/** What of a result is read before the transaction that stores it, so that no connection waits for a thread. */
export type ReadOutputs = { transcript?: StoreTranscript | undefined };

/** Stores what a video has to know of an output beside its artifacts. The video is locked. */
type AddOutput<R> = (trx: Database, video: VideoRow, result: R, context: OutputContext) => Promise<void>;

/**
 * How each output is added to its video; null if its artifacts say all. The renditions of all tasks are joined when the video becomes ready.
 */
const ADD: { [K in Exclude<OutputName, 'renditions'>]: AddOutput<NonNullable<TaskResult[K]>> | null } = {
  images: addImages,
  download: (trx, video, result, { deps }) => addDownload(trx, video, result, deps),
  picture: addPicture,
  transcript: (trx, video, result, { read, deps }) =>
    addTranscript(trx, video, result, read.transcript, deps),
};

/** Whether the workspace of a video may store what derivations make of renditions without encoding them again. */
type HasRoomFor = (works: readonly Derivation[]) => Promise<boolean>;

/** What the control plane has to know of a kind of derivation. The video is locked. */
type DerivationKind<W> = {
  /** What was asked for before the video became ready. `hasRoomFor` says whether the workspace may store what these make. */
  wanted: (trx: Database, video: VideoRow, hasRoomFor: HasRoomFor, deps: OutputDeps) => Promise<W[]>;
  /** Stores that a derivation has failed for good. */
  failed: (
    trx: Database,
    video: VideoRow,
    work: W,
    failure: DerivationFailure,
    deps: OutputDeps,
  ) => Promise<void>;
};

const DERIVATIONS: { [K in DerivationName]: DerivationKind<DerivationOf<K>> } = {
  download: { wanted: wantedDownloads, failed: failDownload },
  picture: { wanted: wantedPoster, failed: failPicture },
  transcript: { wanted: wantedAutoCaptions, failed: failTranscript },
};

/** Adds the outputs that a task has stored to its video, which is locked and becomes ready, or is. */
export async function addOutputs(
  trx: Database,
  video: VideoRow,
  result: TaskResult,
  context: OutputContext,
): Promise<void> {
  for (const [name, add] of Object.entries(ADD) as [keyof typeof ADD, AddOutput<unknown> | null][])
    if (result[name] !== undefined) await add?.(trx, video, result[name], context);
}

/** Reads the text in a result of a task. */
export async function readOutputs(
  videoId: string,
  { transcript }: TaskResult,
  { captions }: TranscriptDeps,
): Promise<ReadOutputs> {
  if (transcript === undefined || transcript.webvtt === '') return {};
  return { transcript: await captions.readTranscript(videoId, transcript) };
}

/** The derivations that were asked for before a video became ready. */
export async function wantedDerivations(
  trx: Database,
  video: VideoRow,
  hasRoomFor: HasRoomFor,
  deps: OutputDeps,
): Promise<Derivation[]> {
  const wanted: Derivation[] = [];
  for (const kind of Object.values(DERIVATIONS))
    wanted.push(...(await kind.wanted(trx, video, hasRoomFor, deps)));
  return wanted;
}

/** Stores that a derivation has failed for good. The video stays as it is. */
export function derivationFailed(
  trx: Database,
  video: VideoRow,
  work: Derivation,
  failure: DerivationFailure,
  deps: OutputDeps,
): Promise<void> {
  const { failed } = DERIVATIONS[work.kind] as DerivationKind<Derivation>;
  return failed(trx, video, work, failure, deps);
}
