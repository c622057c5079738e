import type { CaptionsFormat } from '@framelane/captions/read-captions';
import { canonicalLanguage, languageName } from '@framelane/contracts/languages';
import type { CaptionsTrack } from '@framelane/contracts/manifest';
import type { components } from '@framelane/openapi/types';
import type { Logger } from '@framelane/service-kit/logger';
import { invalidField, Problem } from '@framelane/service-kit/problem';
import { addArtifacts, removeArtifact } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';

import { forgetAutoCaptions, type StoreTranscript } from '../outputs/auto-captions.ts';
import type { PlaybackService } from '../playback/playback.service.ts';
import { mayStore, type QuotasService } from '../quotas/quotas.service.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import { videoNotFound } from '../videos/videos.service.ts';
import {
  type CaptionsRecord,
  findCaptionsWithin,
  findDuration,
  findFile,
  findWorkspaceId,
  hasVideo,
  listCaptions,
  type PartOfCaptions,
  removeCaptions,
  saveCaptions,
  updateCaptions,
} from './captions.store.ts';
import { cutCaptions, readFile, readTrack } from './captions-threads.ts';
import type { StoredCues } from './stored-cues.ts';

/** The most languages of a video. */
const MAX_LANGUAGES = 50;

const MAX_LABEL_LENGTH = 100;

/** Which captions: a video of a workspace, and the language as the client wrote it. */
export type CaptionsAddress = { workspaceId: string; videoId: string; language: string };

/** A text track of the uploaded file. */
export type ReadTrack = Pick<CaptionsTrack, 'language' | 'label'> & { cues: StoredCues };

/** Captions of a part of a video. */
export type CutCaptions = Omit<PartOfCaptions, 'blocks'> & { cues: StoredCues };

/** What a client changes about existing captions. */
export type CaptionsPatch = components['schemas']['CaptionsPatch'];

/** What a client sends. Without a label, the name of the language is the label. */
export type CaptionsRequest = {
  file: Uint8Array;
  format: CaptionsFormat;
  label: string | undefined;
  isDefault: boolean;
};

type Deps = {
  db: Database;
  lifecycle: VideoLifecycle;
  playback: PlaybackService;
  quotas: QuotasService;
  /** Withdraws what a machine was asked for in a language of a locked video. Resolves with whether there was something. */
  withdraw: (trx: Database, video: VideoRow, language: string) => Promise<boolean>;
  logger: Logger;
};

/**
 * Stores the captions of videos. Each change is one transaction that locks the video. Captions are stored as rows, so
 * nobody sees a partial change (ADR 34).
 */
export class CaptionsService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** All captions of a video. Throws 404 `video_not_found`. */
  async list(workspaceId: string, videoId: string): Promise<CaptionsRecord[]> {
    await this.#requireVideo(workspaceId, videoId);
    return listCaptions(this.#deps.db, videoId);
  }

  /** The WebVTT file of a language. Throws 404 `video_not_found` or `captions_not_found`, and 400 if the language is invalid. */
  async get(address: CaptionsAddress): Promise<string> {
    const language = requireLanguage(address.language);
    await this.#requireVideo(address.workspaceId, address.videoId);
    const file = await findFile(this.#deps.db, address.videoId, language);
    if (file === undefined) throw captionsNotFound(language);
    return file;
  }

  /**
   * Sets or replaces the captions of a language. Throws 400 if the captions or the language are invalid, 404
   * `video_not_found`, 409 `captions_limit_reached`, 403 `quota_exceeded`, and 429 if too many files of the workspace wait to be read.
   */
  async set(
    address: CaptionsAddress,
    { file, format, label, isDefault }: CaptionsRequest,
  ): Promise<{ created: boolean; record: CaptionsRecord }> {
    const { workspaceId, videoId } = address;
    const language = requireLanguage(address.language);
    const duration = await findDuration(this.#deps.db, workspaceId, videoId);
    const cues = await readFile(workspaceId, { file, format, duration });
    return this.#change(address, async (trx, existing) => {
      const old = existing.find((captions) => captions.language === language);
      if (old === undefined && existing.length >= MAX_LANGUAGES) throw limitReached();
      const growth = cues.bytes - (old?.bytes ?? 0);
      if (growth > 0) await this.#deps.quotas.requireBytes(trx, workspaceId, growth);
      const revision = await this.#deps.playback.incrementVersion(trx, videoId);
      const captions = { label: label ?? nameOf(language), isDefault, revision };
      await saveCaptions(trx, videoId, { ...captions, cues, language, origin: 'person' });
      await forgetAutoCaptions(trx, videoId, language);
      await addArtifacts(trx, videoId, [{ kind: 'captions', name: language, bytes: cues.bytes }]);
      return {
        created: old === undefined,
        record: await readRecord(trx, videoId, language),
      };
    });
  }

  /**
   * Changes the label or the default of captions. Throws 404 `video_not_found` or `captions_not_found`, and 400 if the
   * language is invalid.
   */
  async update(address: CaptionsAddress, patch: CaptionsPatch): Promise<CaptionsRecord> {
    const language = requireLanguage(address.language);
    return this.#change(address, async (trx, existing) => {
      if (!existing.some((captions) => captions.language === language)) throw captionsNotFound(language);
      const revision = await this.#deps.playback.incrementVersion(trx, address.videoId);
      await updateCaptions(trx, address.videoId, language, {
        ...(patch.label !== undefined && { label: patch.label }),
        ...(patch.default !== undefined && { isDefault: patch.default }),
        revision,
      });
      return readRecord(trx, address.videoId, language);
    });
  }

  /**
   * Deletes the captions of a language, and withdraws the requests to have them made by a machine; `und` stands for a request whose language is to
   * be detected, too. Throws 404 `video_not_found` or `captions_not_found`, and 400 if the language is invalid.
   */
  async delete(address: CaptionsAddress): Promise<void> {
    const language = requireLanguage(address.language);
    await this.#change(address, async (trx, existing, video) => {
      const isWithdrawn = await this.#deps.withdraw(trx, video, language);
      const exist = existing.some((captions) => captions.language === language);
      if (!exist && !isWithdrawn) throw captionsNotFound(language);
      if (!exist) return;
      await this.#deps.playback.incrementVersion(trx, address.videoId);
      await removeCaptions(trx, address.videoId, language);
      await removeArtifact(trx, address.videoId, { kind: 'captions', name: language });
    });
  }

  /**
   * Reads the text tracks of the file of a video; call it before the transaction that stores them. The engine has read them with the same
   * rules, so an error means that the engine and the control plane have different versions: the track is left out.
   */
  async readTracks(videoId: string, tracks: readonly CaptionsTrack[]): Promise<ReadTrack[]> {
    const found: ReadTrack[] = [];
    const workspaceId = tracks.length > 0 ? await findWorkspaceId(this.#deps.db, videoId) : undefined;
    if (workspaceId === undefined) return found;
    for (const { language, label, webvtt } of tracks) {
      const { cues, error } = await readTrack(workspaceId, webvtt);
      if (error === undefined) found.push({ language, label, cues });
      else this.#deps.logger.warn('captions.track_unreadable', { videoId, error });
    }
    return found;
  }

  /**
   * Stores the text tracks of the file of a locked video. Captions that a client has set for a language stay. A second track
   * of a language gets a tag of its own.
   */
  async storeTracks(trx: Database, video: VideoRow, tracks: readonly ReadTrack[]): Promise<void> {
    if (tracks.length === 0) return;
    const existing = await listCaptions(trx, video.id);
    const storedLanguages = new Set(existing.map(({ language }) => language));
    const tagsOfTracks = new Set<string>();
    for (const track of tracks) {
      const language = withNumber(canonicalLanguage(track.language ?? '') ?? 'und', tagsOfTracks);
      tagsOfTracks.add(language);
      if (storedLanguages.has(language) || storedLanguages.size >= MAX_LANGUAGES) continue;
      storedLanguages.add(language);
      const revision = await this.#deps.playback.incrementVersion(trx, video.id);
      const { cues } = track;
      const facts = { language, label: labelOf(track.label, language), isDefault: false, revision };
      await saveCaptions(trx, video.id, { ...facts, cues, origin: 'file' });
      await addArtifacts(trx, video.id, [{ kind: 'captions', name: language, bytes: cues.bytes }]);
    }
  }

  /**
   * The captions that are shown between two times of a video, in milliseconds, as a clip shows them. Throws 429 if too many files of the workspace
   * wait to be read.
   */
  async cut(
    workspaceId: string,
    videoId: string,
    times: { from: number; to: number },
  ): Promise<CutCaptions[]> {
    const cut: CutCaptions[] = [];
    for (const { blocks, ...captions } of await findCaptionsWithin(
      this.#deps.db,
      workspaceId,
      videoId,
      times,
    )) {
      const cues = blocks === '' ? null : await cutCaptions(workspaceId, { blocks, ...times });
      if (cues !== null) cut.push({ ...captions, cues });
    }
    return cut;
  }

  /** Stores the captions of a clip that was just inserted. */
  async storeCut(trx: Database, videoId: string, captions: readonly CutCaptions[]): Promise<void> {
    for (const each of captions) {
      const revision = await this.#deps.playback.incrementVersion(trx, videoId);
      await saveCaptions(trx, videoId, { ...each, revision });
      await addArtifacts(trx, videoId, [{ kind: 'captions', name: each.language, bytes: each.cues.bytes }]);
    }
  }

  /** Reads what a machine has recognised; call it before the transaction that stores it. Undefined if it cannot be read. */
  async readTranscript(
    videoId: string,
    { language, webvtt }: { language: string; webvtt: string },
  ): Promise<StoreTranscript | undefined> {
    const [read] = await this.readTracks(videoId, [{ language, label: null, webvtt }]);
    return read && ((trx, video) => this.#storeOfMachine(trx, video, { language, cues: read.cues }));
  }

  /** Captions of a machine take the place of those that a machine has made before. */
  async #storeOfMachine(
    trx: Database,
    { id, workspace_id: workspaceId }: VideoRow,
    { language, cues }: { language: string; cues: StoredCues },
  ): ReturnType<StoreTranscript> {
    const existing = await listCaptions(trx, id);
    const old = existing.find((captions) => captions.language === language);
    if (old !== undefined && old.origin !== 'machine') return 'exist';
    if (old === undefined && existing.length >= MAX_LANGUAGES) return 'too_many';
    const growth = cues.bytes - (old?.bytes ?? 0);
    if (growth > 0 && !(await mayStore(trx, workspaceId, growth))) return 'no_room';
    const revision = await this.#deps.playback.incrementVersion(trx, id);
    const facts = {
      language,
      label: old?.label ?? labelOfMachine(language),
      isDefault: old?.default ?? false,
      revision,
    };
    await saveCaptions(trx, id, { ...facts, cues, origin: 'machine' });
    await addArtifacts(trx, id, [{ kind: 'captions', name: language, bytes: cues.bytes }]);
    return readRecord(trx, id, language);
  }

  /** Runs a change with the video locked. Throws 404 `video_not_found`. */
  #change<T>(
    { workspaceId, videoId }: CaptionsAddress,
    change: (trx: Database, existing: CaptionsRecord[], video: VideoRow) => Promise<T>,
  ): Promise<T> {
    return this.#deps.db.transaction().execute(async (trx) => {
      const video = await this.#deps.lifecycle.lock(trx, videoId);
      if (video?.workspace_id !== workspaceId) throw videoNotFound(videoId);
      return change(trx, await listCaptions(trx, videoId), video);
    });
  }

  async #requireVideo(workspaceId: string, videoId: string): Promise<void> {
    if (!(await hasVideo(this.#deps.db, workspaceId, videoId))) throw videoNotFound(videoId);
  }
}

/** The captions that a transaction has stored. */
async function readRecord(trx: Database, videoId: string, language: string): Promise<CaptionsRecord> {
  const stored = await listCaptions(trx, videoId);
  const record = stored.find((each) => each.language === language);
  if (record === undefined) throw new Error(`The captions ${language} of ${videoId} were not stored`);
  return record;
}

/** The canonical form of the language in the path of a request. Throws 400 if it is not a language tag. */
function requireLanguage(text: string): string {
  const tag = canonicalLanguage(text);
  if (tag !== undefined) return tag;
  throw invalidField('path/language', 'format', 'must be a BCP 47 language tag, such as en or pt-BR');
}

/** The name of a language, or its tag if it has no known name. */
function nameOf(language: string): string {
  return languageName(language) ?? language;
}

/** The label of captions that a machine has made. */
function labelOfMachine(language: string): string {
  return `${nameOf(language)} (auto-generated)`;
}

/** The tag; with a private subtag, such as `en-x-2`, if the tag is taken. */
function withNumber(language: string, taken: ReadonlySet<string>): string {
  if (!taken.has(language)) return language;
  const separator = language.includes('-x-') ? '-' : '-x-';
  for (let number = 2; ; number += 1) {
    const numbered = `${language}${separator}${number}`;
    if (!taken.has(numbered)) return numbered;
  }
}

/** The title of a track as a label; the name of its language if it has none. */
function labelOf(title: string | null, language: string): string {
  const label = (title ?? '').replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Cs}]/gu, '').trim();
  return label === '' ? nameOf(language) : [...label].slice(0, MAX_LABEL_LENGTH).join('');
}

function captionsNotFound(language: string): Problem {
  return new Problem('captions_not_found', `This video has no captions in the language ${language}.`);
}

function limitReached(): Problem {
  return new Problem(
    'captions_limit_reached',
    `A video can have captions in at most ${MAX_LANGUAGES} languages. Delete the captions of another language first.`,
  );
}
