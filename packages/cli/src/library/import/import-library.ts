import { ApiError, type Video } from '@framelane/client';
import pMap from 'p-map';
import { inOneLine } from '../in-one-line.ts';
import type { BrokenItem, LibraryItem, LibrarySource } from '../library-item.ts';
import { type ImportContext, importItem } from './import-item.ts';
import { type ImportReport, importReport, type ReportEntry } from './import-report.ts';
import { type Filter, isWanted } from './matches.ts';
import { KnownVideos, nextStep, type Step } from './next-step.ts';
import { storedId } from './video-fields.ts';

export type ImportOptions = Filter & {
  dryRun: boolean;
  /** How many videos are imported at the same time. */
  concurrency: number;
  /** How many videos are imported at most. */
  limit: number;
  workspaceId: string;
  /** Videos of the other environment are not known: those of a test key are removed after a day. */
  environment: Video['environment'];
  /** Replaces what the source says. */
  playbackPolicy?: Video['playbackPolicy'] | undefined;
  /** Called when the import of a video begins, which may take long. */
  onBegin: (item: LibraryItem) => void;
  /** Called for each video when its outcome is known. */
  onEntry: (entry: ReportEntry) => void;
};

type WantedItem = LibraryItem | BrokenItem;

/** Problems that every further video would have. Some services charge for files that are asked for in vain. */
const CONCERNS_ALL = ['quota_exceeded', 'insufficient_permissions'];

/**
 * Imports the videos of a library that the workspace does not have. The failure of one stops no other, unless it concerns all. An abort ends it
 * after what can be ended at once; the report then has what was done. `stopped` is the error that has ended the list.
 */
export async function importLibrary(
  source: LibrarySource,
  options: ImportOptions,
  context: ImportContext,
): Promise<{ report: ImportReport; stopped?: unknown }> {
  const { signal } = context;
  const entries: ReportEntry[] = [];
  const known = await knownVideos(options, context);
  let stopped: unknown;
  const stop = (error: unknown) => {
    stopped ??= error;
  };
  const run = async ({ item, step }: PlannedItem) => {
    const entry = await outcomeOf(item, step, options, context, (error) => {
      if (concernsAll(error)) stop(error);
    });
    // An abort is no failure of the video.
    if (signal.aborted) return;
    entries.push(entry);
    options.onEntry(entry);
  };
  const isStopped = () => signal.aborted || stopped !== undefined;
  const items = endingWith(plannedItems(source, known, options, isStopped), stop);
  await pMap(items, run, { concurrency: options.concurrency });
  if (signal.aborted) stopped = signal.reason;
  const { workspaceId } = options;
  const complete = stopped === undefined;
  const report = importReport({ source: source.name, workspaceId, complete }, entries);
  return complete ? { report } : { report, stopped };
}

async function knownVideos(
  { environment }: ImportOptions,
  { client, signal }: ImportContext,
): Promise<KnownVideos> {
  const known = new KnownVideos();
  for await (const video of client.videos.list({ limit: 100, environment }, { signal })) known.add(video);
  return known;
}

/** Ends a list where it throws an error, so that what runs at that time is not left alone. */
async function* endingWith<T>(
  list: AsyncIterable<T>,
  onError: (error: unknown) => void,
): AsyncGenerator<T, void> {
  try {
    yield* list;
  } catch (error) {
    onError(error);
  }
}

type PlannedItem = { item: WantedItem; step: Step };

/** The items that the user wants, up to the limit of those that are work, and what to do about each. */
async function* plannedItems(
  source: LibrarySource,
  known: KnownVideos,
  options: ImportOptions,
  isStopped: () => boolean,
): AsyncGenerator<PlannedItem, void> {
  const names = new Map<string, string>();
  let begun = 0;
  for await (const item of source.items()) {
    if (isStopped()) return;
    if (!isWanted(item.name, options)) continue;
    const step = stepFor(item, known, names);
    if (step.kind === 'create' || step.kind === 'continue') {
      if (begun === options.limit) return;
      begun += 1;
    }
    yield { item, step };
  }
}

function stepFor(item: WantedItem, known: KnownVideos, names: Map<string, string>): Step {
  if ('error' in item) return { kind: 'fail', reason: inOneLine(item.error) };
  const id = storedId(item.id);
  const other = names.get(id);
  if (other !== undefined) return { kind: 'skip', reason: `It is the same file as ${other}.` };
  names.set(id, item.name);
  return nextStep(item, known.get(item.id));
}

function withPolicy(item: LibraryItem, playbackPolicy: ImportOptions['playbackPolicy']): LibraryItem {
  return playbackPolicy === undefined ? item : { ...item, fields: { ...item.fields, playbackPolicy } };
}

async function outcomeOf(
  item: WantedItem,
  step: Step,
  { dryRun, playbackPolicy, onBegin }: ImportOptions,
  context: ImportContext,
  onError: (error: unknown) => void,
): Promise<ReportEntry> {
  const { id, name } = item;
  const base = { id, name, warnings: [] };
  if ('error' in item || step.kind === 'fail')
    return {
      ...base,
      outcome: 'failed',
      ...('videoId' in step && step.videoId !== undefined && { videoId: step.videoId }),
      reason: 'reason' in step ? step.reason : '',
    };
  if (step.kind === 'skip')
    return {
      ...base,
      outcome: 'skipped',
      ...(step.videoId !== undefined && { videoId: step.videoId }),
      reason: step.reason,
    };
  if (dryRun) return { ...base, outcome: 'planned', bytes: item.size ?? null, warnings: item.warnings ?? [] };
  onBegin(item);
  try {
    return {
      ...base,
      outcome: 'imported',
      ...(await importItem(withPolicy(item, playbackPolicy), step, context)),
    };
  } catch (error) {
    onError(error);
    return { ...base, outcome: 'failed', reason: inOneLine(error) };
  }
}

function concernsAll(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || CONCERNS_ALL.includes(error.code));
}
