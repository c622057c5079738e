import { type FileHandle, open } from 'node:fs/promises';
import { refusal } from '../transcode-failure.ts';
import { type Box, boxesIn } from './boxes.ts';
import { describeTrack, type MediaSource, type TrackName } from './media-source.ts';
import { MAX_TRACKS } from './whitelist.ts';

/** An entry of an edit list (ISO/IEC 14496-12 §8.6.6). Times are in seconds. */
export type Edit = {
  /** The time of the track's media at which it begins; null for an empty edit: nothing is shown. */
  from: number | null;
  /** Infinity for all of the media. */
  lasts: number;
  /** The speed. */
  rate: number;
};

/** The edit lists of a file. */
export type EditLists = {
  isFragmented: boolean;
  /** By the id that the container gives to each track. Tracks without an edit list are missing. */
  tracks: ReadonlyMap<number, readonly Edit[]>;
};

/** What an edit list asks for and ffmpeg does not do. Instead, it shows parts that the edit list hides (measured with 5.1 and 7.0). */
export type EditFlaw = 'entries' | 'gap' | 'speed' | 'fragments';

/** The number of entries of an edit list that are applied. */
const MAX_EDITS = 10_000;

/** Why an edit list cannot be applied; null if it can. In a fragmented file ffmpeg applies only the beginning of the first edit. */
export function editFlaw(edits: readonly Edit[], isFragmented: boolean): EditFlaw | null {
  if (edits.length > MAX_EDITS) return 'entries';
  const first = edits.findIndex(({ from }) => from !== null);
  const shown = edits.slice(first, lastShown(edits) + 1).filter(({ lasts }) => lasts > 0);
  if (shown.some(({ from }) => from === null)) return 'gap';
  // Programs that write no rate leave it 0. Players show such a track at its own speed, as ffmpeg does.
  const hasRates = shown.some(({ rate }) => rate !== 0);
  if (hasRates && shown.some(({ rate }) => rate !== 1)) return 'speed';
  return isFragmented && shown.length > 1 ? 'fragments' : null;
}

/** -1 if an edit list shows nothing. */
function lastShown(edits: readonly Edit[]): number {
  return edits.findLastIndex(({ from, lasts }) => from !== null && lasts > 0);
}

/**
 * The second of the file at which a track ends, if empty edits follow: in them, ffmpeg shows the beginning of the track again (measured
 * with 5.1). Infinity if none follows, and in fragmented files, where ffmpeg ignores them.
 */
export function shownUntil(edits: readonly Edit[], isFragmented: boolean): number {
  const rest = lastShown(edits) + 1;
  const isFollowed = edits.slice(rest).some(({ lasts }) => lasts > 0);
  if (isFragmented || rest === 0 || !isFollowed) return Number.POSITIVE_INFINITY;
  return edits.slice(0, rest).reduce((sum, { lasts }) => sum + lasts, 0);
}

const FLAWS: Record<EditFlaw, string> = {
  entries: `has more than ${MAX_EDITS} entries`,
  gap: 'has a gap',
  speed: 'changes the speed',
  fragments: 'has several parts, and the file is fragmented',
};

/** A source with the ends of its tracks, and without audio tracks whose edit list cannot be applied. `tracks` names their flaws. */
export function withEditLists(source: MediaSource, { isFragmented, tracks }: EditLists): MediaSource {
  const edits = new Map(source.tracks.map(({ index, id }) => [index, tracks.get(id ?? Number.NaN) ?? []]));
  const flawOf = (index: number) => editFlaw(edits.get(index) ?? [], isFragmented);
  const endOf = (index: number) => shownUntil(edits.get(index) ?? [], isFragmented);
  return {
    ...source,
    videoTracks: source.videoTracks.map((track) => {
      const end = endOf(track.index);
      // The declared duration contains the empty edits.
      return { ...track, shownUntil: end, ...(Number.isFinite(end) && { declaredDuration: null }) };
    }),
    audioTracks: source.audioTracks
      .filter(({ index }) => flawOf(index) === null)
      .map((track) => ({ ...track, shownUntil: endOf(track.index) })),
    tracks: source.tracks.map((track) => {
      const flaw = track.kind === 'audio' ? flawOf(track.index) : null;
      return flaw === null ? track : { ...track, flaw: `its edit list ${FLAWS[flaw]}` };
    }),
  };
}

/** Throws a refusal if the edit list of the video cannot be applied. */
export function checkVideoEdits(
  { isFragmented, tracks }: EditLists,
  all: readonly TrackName[],
  video: Pick<TrackName, 'index'>,
): void {
  const track = all.find(({ index }) => index === video.index);
  const flaw = editFlaw(tracks.get(track?.id ?? Number.NaN) ?? [], isFragmented);
  if (!track || flaw === null) return;
  throw refusal(
    'malformed_media',
    `The edit list of track ${describeTrack(track)} ${FLAWS[flaw]}, which is not supported. Export the file again and upload that.`,
  );
}

/** A part of a track's media, and the second of the file at which it is shown. */
export type ShownPart = { at: number; from: number; lasts: number };

/**
 * What is shown of a track.
 *
 * @param edits undefined if the track has no edit list
 * @param startTime earliest timestamp of the file, in seconds
 */
export function shownParts(
  edits: readonly Edit[] = [{ from: 0, lasts: Number.POSITIVE_INFINITY, rate: 1 }],
  startTime: number,
): ShownPart[] {
  let at = -startTime;
  return edits.flatMap(({ from, lasts }) => {
    const begin = at;
    at += lasts;
    return from === null ? [] : [{ at: begin, from, lasts }];
  });
}

/** Ordinary files have only a few boxes in a box. */
const MAX_BOXES = 256;

type Part = Pick<Box, 'content' | 'end'>;

/** Reads the edit lists of an MP4 or QuickTime file. What is damaged is missing. Throws a refusal if a box has too many boxes. */
export async function readEditLists(path: string): Promise<EditLists> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const movie = await childOf(file, { content: 0, end: size }, 'moov');
    if (!movie) return { isFragmented: false, tracks: new Map() };
    const isFragmented = (await childOf(file, movie, 'mvex')) !== undefined;
    const scale = await numberIn(file, movie, 'mvhd');
    const tracks = new Map<number, Edit[]>();
    let count = 0;
    for await (const track of childrenOf(file, movie, 'trak')) {
      count += 1;
      if (count > MAX_TRACKS) break;
      const edits = await editsOf(file, track, { scale, isFragmented });
      if (edits.length > 0) tracks.set(await numberIn(file, track, 'tkhd'), edits);
    }
    return { isFragmented, tracks };
  } finally {
    await file.close();
  }
}

/** ffmpeg reads every box, so those beyond a limit may not be ignored. */
async function* childrenOf(file: FileHandle, { content, end }: Part, type: string): AsyncGenerator<Part> {
  let boxes = 0;
  for await (const box of boxesIn(file, content, end)) {
    boxes += 1;
    if (boxes > MAX_BOXES) {
      throw refusal(
        'malformed_media',
        `The file has more than ${MAX_BOXES} boxes in a box of its index, or before it. Export the file again and upload that.`,
      );
    }
    if (box.type === type) yield box;
  }
}

async function childOf(file: FileHandle, part: Part, ...path: string[]): Promise<Part | undefined> {
  let found: Part | undefined = part;
  for (const type of path) found = found && (await childrenOf(file, found, type).next()).value;
  return found;
}

/** Version and flags, and two times that precede the timescale or the id. Times have 64 bits from version 1 on. */
const SMALL_TIMES_BYTES = 12;
const LARGE_TIMES_BYTES = 20;

/** The timescale or the id in a header; NaN if the header is missing. */
async function numberIn(file: FileHandle, part: Part, ...path: string[]): Promise<number> {
  const header = await childOf(file, part, ...path);
  const bytes = header ? await read(file, header, 0, LARGE_TIMES_BYTES + 4) : Buffer.of();
  const at = bytes[0] === 0 ? SMALL_TIMES_BYTES : LARGE_TIMES_BYTES;
  return bytes.length >= at + 4 ? bytes.readUInt32BE(at) : Number.NaN;
}

/** The last box of a type, which replaces the others: ffmpeg uses the last edit list of a track. */
async function lastChildOf(file: FileHandle, part: Part, type: string): Promise<Part | undefined> {
  let last: Part | undefined;
  for await (const child of childrenOf(file, part, type)) last = child;
  return last;
}

/** Version and flags, and the number of entries. */
const LIST_HEADER_BYTES = 8;

async function editsOf(
  file: FileHandle,
  track: Part,
  { scale, isFragmented }: { scale: number; isFragmented: boolean },
): Promise<Edit[]> {
  const edits = await lastChildOf(file, track, 'edts');
  const list = edits && (await lastChildOf(file, edits, 'elst'));
  const header = list ? await read(file, list, 0, LIST_HEADER_BYTES) : Buffer.of();
  if (!list || header.length < LIST_HEADER_BYTES) return [];
  const mediaScale = await numberIn(file, track, 'mdia', 'mdhd');
  if (!(scale > 0 && mediaScale > 0)) return [];
  const hasLargeTimes = header[0] === 1;
  const entryBytes = hasLargeTimes ? 20 : 12;
  // ffmpeg reads as many entries as the box has space for, whatever their declared number is.
  const entries = await read(file, list, LIST_HEADER_BYTES, (MAX_EDITS + 1) * entryBytes);
  return Array.from({ length: Math.floor(entries.length / entryBytes) }, (_, at) => {
    const start = at * entryBytes;
    const [duration, mediaTime] = hasLargeTimes
      ? [Number(entries.readBigUInt64BE(start)), Number(entries.readBigInt64BE(start + 8))]
      : [entries.readUInt32BE(start), entries.readInt32BE(start + 4)];
    return {
      from: mediaTime < 0 ? null : mediaTime / mediaScale,
      // The duration of fragments is not known when their edit list is written.
      lasts: duration === 0 && isFragmented ? Number.POSITIVE_INFINITY : duration / scale,
      rate: entries.readInt32BE(start + entryBytes - 4) / 65_536,
    };
  });
}

/** Bytes of the content of a box; fewer if it ends before. */
async function read(file: FileHandle, { content, end }: Part, from: number, bytes: number): Promise<Buffer> {
  const length = Math.max(0, Math.min(bytes, end - content - from));
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, content + from);
  return buffer.subarray(0, bytesRead);
}
