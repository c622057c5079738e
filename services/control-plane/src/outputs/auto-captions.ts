import type { TranscriptResult, TranscriptWork } from '@framelane/contracts/outputs/transcript';
import type { components } from '@framelane/openapi/types';
import { Problem } from '@framelane/service-kit/problem';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import type { WebhookEventsService } from '../webhooks/events.service.ts';
import { audioFor, audioMissing } from './audio-for-language.ts';
import {
  type AutoCaptionsFailure,
  findAudio,
  findOwnLanguages,
  findRequested,
  forgetAll,
  forgetEnded,
  saveFailed,
  savePreparing,
  saveReady,
} from './auto-captions.store.ts';

/** Captions that cannot be made, with the reason for their owner. */
type Impossible = { language: string; failure: AutoCaptionsFailure };

/**
 * Stores a transcript that was read as captions of a locked video. Resolves with `exist` if others have set captions in its language, with
 * `too_many` if the video has the most languages, and with `no_room` if the workspace may not store them.
 */
export type StoreTranscript = (
  trx: Database,
  video: VideoRow,
) => Promise<components['schemas']['Captions'] | 'exist' | 'too_many' | 'no_room'>;

/** What turns a transcript into captions. */
export type TranscriptDeps = {
  captions: {
    /** Undefined if it cannot be read. */
    readTranscript(
      videoId: string,
      transcript: Pick<TranscriptResult, 'language' | 'webvtt'>,
    ): Promise<StoreTranscript | undefined>;
  };
  events: WebhookEventsService;
};

/** Requests of a video that are stored. Each can be a recognition of all its sound. */
const MAX_REQUESTS = 16;

/**
 * Stores that a client asks for captions in these languages; an empty one is to be detected. Those that failed before are prepared again. Resolves
 * with those that do not exist and are not being prepared. Throws 409 `captions_limit_reached`.
 */
export async function askForAutoCaptions(
  trx: Database,
  videoId: string,
  languages: readonly string[],
): Promise<string[]> {
  if (languages.length === 0) return [];
  const requests = await findRequested(trx, videoId);
  const isWanted = (language: string) =>
    requests.every((each) => each.status === 'failed' || ![each.requested, each.language].includes(language));
  const missing = languages.filter(isWanted);
  if (new Set([...requests.map(({ requested }) => requested), ...missing]).size > MAX_REQUESTS) {
    throw new Problem(
      'captions_limit_reached',
      `Captions of a video can be asked for in ${MAX_REQUESTS} languages. Delete others first.`,
    );
  }
  await savePreparing(trx, videoId, missing);
  return missing;
}

/** The work that makes captions of a ready video in these languages, and those that cannot be made. */
export async function planAutoCaptions(
  trx: Database,
  { id }: VideoRow,
  languages: readonly string[],
): Promise<{ works: TranscriptWork[]; impossible: Impossible[] }> {
  const audio = await findAudio(trx, id);
  const own = await findOwnLanguages(trx, id);
  const works: TranscriptWork[] = [];
  const impossible: Impossible[] = [];
  for (const language of languages) {
    const track = audioFor(language, audio);
    if (own.has(language)) impossible.push({ language, failure: captionsExist(language) });
    else if (track !== undefined)
      works.push({ kind: 'transcript', requested: language, rendition: track.name });
    else {
      const message = audioMissing(language, audio);
      impossible.push({ language, failure: { code: 'audio_not_available', message } });
    }
  }
  return { works, impossible };
}

/**
 * The captions that were asked for before a video became ready. Those that cannot be made fail, and so do those that the workspace has no room
 * for.
 */
export async function wantedAutoCaptions(
  trx: Database,
  video: VideoRow,
  hasRoomFor: (works: readonly TranscriptWork[]) => Promise<boolean>,
): Promise<TranscriptWork[]> {
  const requested = await findRequested(trx, video.id);
  const languages = requested.filter(({ status }) => status === 'preparing').map((each) => each.requested);
  if (languages.length === 0) return [];
  const { works, impossible } = await planAutoCaptions(trx, video, languages);
  for (const { language, failure } of impossible) await saveFailed(trx, video.id, language, failure);
  const wanted: TranscriptWork[] = [];
  for (const work of works) {
    if (await hasRoomFor([...wanted, work])) wanted.push(work);
    else await saveFailed(trx, video.id, work.requested, NO_ROOM);
  }
  return wanted;
}

/** Stores a transcript as captions. Those that a person or the file has set stay. `store` is undefined if it cannot be read. */
export async function addTranscript(
  trx: Database,
  video: VideoRow,
  { requested, language, webvtt }: TranscriptResult,
  store: StoreTranscript | undefined,
  { events }: TranscriptDeps,
): Promise<void> {
  const fail = (failure: AutoCaptionsFailure) => saveFailed(trx, video.id, requested, failure);
  if (webvtt === '') return fail({ code: 'no_speech', message: 'No speech was found in the audio.' });
  if (store === undefined) return fail(FAILED);
  const record = await store(trx, video);
  if (record === 'exist') return fail(captionsExist(language));
  if (record === 'no_room') return fail(NO_ROOM);
  if (record === 'too_many') {
    const message = 'The video has captions in the most languages that are possible. Delete others first.';
    return fail({ code: 'captions_limit_reached', message });
  }
  await saveReady(trx, video.id, requested, record.language);
  const { id, title } = video;
  await events.record(trx, 'video.captions.ready', video, { id, title, captions: record });
}

/** Stores that captions could not be made. */
export function failTranscript(
  trx: Database,
  { id }: VideoRow,
  { requested }: TranscriptWork,
  { code }: { code: string },
): Promise<void> {
  return saveFailed(trx, id, requested, code === 'transcode_timeout' ? TIMEOUT : FAILED);
}

const NO_ROOM = {
  code: 'quota_exceeded',
  message: 'The workspace may not store that many bytes. Delete videos, then ask for the captions again.',
} as const;
// What the engine reports is about a video; the log has it.
const FAILED = {
  code: 'transcription_failed',
  message: 'The captions could not be made. Ask for them again later.',
} as const;
const TIMEOUT = {
  code: 'transcription_timeout',
  message: 'Speech recognition took too long. Ask for the captions again later.',
} as const;

/** Forgets all requests for captions of a language. Resolves with what was asked for. `und` stands for a language that is to be detected, too. */
export function withdrawAutoCaptions(trx: Database, videoId: string, language: string): Promise<string[]> {
  return forgetAll(trx, videoId, language);
}

/** Forgets that captions of a language were made, or could not be: they are a person's now. */
export function forgetAutoCaptions(trx: Database, videoId: string, language: string): Promise<void> {
  return forgetEnded(trx, videoId, language);
}

/** Why captions in one of the languages will not be made: a person or the file has set some. Undefined if nobody has. */
export async function existingCaptions(
  trx: Database,
  videoId: string,
  languages: readonly string[],
): Promise<AutoCaptionsFailure | undefined> {
  const own = await findOwnLanguages(trx, videoId);
  const existing = languages.find((language) => own.has(language));
  return existing === undefined ? undefined : captionsExist(existing);
}

function captionsExist(language: string): AutoCaptionsFailure {
  return {
    code: 'captions_exist',
    message: `This video has captions in ${language} that no machine has made. Delete them first to have them made.`,
  };
}
