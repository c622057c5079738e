import { type FileHandle, open } from 'node:fs/promises';
import { refusal, type TranscodeFailure } from '../transcode-failure.ts';
import { type Box, boxesIn } from './boxes.ts';
import { MAX_TRACKS } from './whitelist.ts';

/** An entry of an edit list (ISO/IEC 14496-12 §8.6.6). */
export type Edit = {
  /** In units of the movie's timescale. */
  duration: number;
  /** In units of the track's timescale; -1 for an empty edit: nothing is shown for its duration. */
  mediaTime: number;
  /** The speed. */
  rate: number;
};

/** What an edit list asks for and ffmpeg does not do. Instead, it shows parts that the edit list hides (measured with 5.1 and 7.0). */
export type EditFlaw = 'gap' | 'speed' | 'fragments';

const EMPTY = -1;

/** Why ffmpeg cannot apply an edit list; null if it can. Of a fragmented file it applies the beginning of the first edit only. */
export function editFlaw(edits: readonly Edit[], isFragmented: boolean): EditFlaw | null {
  const first = edits.findIndex(({ mediaTime }) => mediaTime !== EMPTY);
  const shown = first === -1 ? [] : edits.slice(first).filter(({ duration }) => duration > 0);
  if (shown.some(({ mediaTime }) => mediaTime === EMPTY)) return 'gap';
  if (shown.some(({ rate }) => rate !== 1)) return 'speed';
  return isFragmented && shown.length > 1 ? 'fragments' : null;
}

const FLAWS: Record<EditFlaw, string> = {
  gap: 'has a gap',
  speed: 'changes the speed',
  fragments: 'has several parts, and the file is fragmented',
};

/** Ordinary files have only a few boxes in a box. */
const MAX_BOXES = 256;

type Part = Pick<Box, 'content' | 'end'>;

/** Refuses an MP4 or QuickTime file if ffmpeg cannot apply the edit list of a video or audio track. */
export async function checkEditLists(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const [movie] = await childrenOf(file, { content: 0, end: size }, 'moov');
    if (!movie) return;
    const isFragmented = (await childrenOf(file, movie, 'mvex')).length > 0;
    const tracks = await childrenOf(file, movie, 'trak');
    for (const [at, track] of tracks.slice(0, MAX_TRACKS).entries()) {
      const flaw = (await isPresented(file, track)) && editFlaw(await editsOf(file, track), isFragmented);
      if (flaw) throw flawedEditListRefusal(at, flaw);
    }
  } finally {
    await file.close();
  }
}

function flawedEditListRefusal(track: number, flaw: EditFlaw): TranscodeFailure {
  return refusal(
    'malformed_media',
    `The edit list of track ${track + 1} ${FLAWS[flaw]}, which is not supported. Export the video again and upload that.`,
  );
}

async function childrenOf(file: FileHandle, { content, end }: Part, ...path: string[]): Promise<Part[]> {
  const [type, ...inner] = path;
  const found: Part[] = [];
  let boxes = 0;
  for await (const box of boxesIn(file, content, end)) {
    boxes += 1;
    if (box.type === type) found.push(...(inner.length > 0 ? await childrenOf(file, box, ...inner) : [box]));
    if (boxes === MAX_BOXES) break;
  }
  return found;
}

/** The place of the handler type in its box, after version, flags and a field of 32 bits. */
const HANDLER_OFFSET = 8;

/** Whether a track is video or audio. */
async function isPresented(file: FileHandle, track: Part): Promise<boolean> {
  const [handler] = await childrenOf(file, track, 'mdia', 'hdlr');
  const type = handler && (await read(file, handler, HANDLER_OFFSET, 4)).toString('latin1');
  return type === 'vide' || type === 'soun';
}

/** The number of entries of an edit list that are read. */
const MAX_EDITS = 10_000;
/** Version and flags, and the number of entries. */
const LIST_HEADER_BYTES = 8;

async function editsOf(file: FileHandle, track: Part): Promise<Edit[]> {
  const [list] = await childrenOf(file, track, 'edts', 'elst');
  if (!list) return [];
  const header = await read(file, list, 0, LIST_HEADER_BYTES);
  if (header.length < LIST_HEADER_BYTES) return [];
  const hasLargeTimes = header[0] === 1;
  const entryBytes = hasLargeTimes ? 20 : 12;
  const count = Math.min(header.readUInt32BE(4), MAX_EDITS);
  const entries = await read(file, list, LIST_HEADER_BYTES, count * entryBytes);
  return Array.from({ length: Math.floor(entries.length / entryBytes) }, (_, at) => {
    const start = at * entryBytes;
    const [duration, mediaTime] = hasLargeTimes
      ? [Number(entries.readBigUInt64BE(start)), Number(entries.readBigInt64BE(start + 8))]
      : [entries.readUInt32BE(start), entries.readInt32BE(start + 4)];
    return { duration, mediaTime, rate: entries.readInt32BE(start + entryBytes - 4) / 65_536 };
  });
}

/** Bytes of the content of a box; fewer if it ends before. */
async function read(file: FileHandle, { content, end }: Part, from: number, bytes: number): Promise<Buffer> {
  const length = Math.max(0, Math.min(bytes, end - content - from));
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, content + from);
  return buffer.subarray(0, bytesRead);
}
