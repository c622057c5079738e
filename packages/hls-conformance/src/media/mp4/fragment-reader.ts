import type { SegmentContent } from '../segment-content.ts';
import { VideoTrack } from '../video-track.ts';
import { AacSamples } from './aac-samples.ts';
import { type BoxHeader, readBoxHeader } from './boxes.ts';
import type { Initialization, Mp4Track } from './initialization.ts';
import { readMovieFragment, type Sample, ticksOf } from './movie-fragment.ts';

/** Limits of what is kept in memory: a `moof`, and a frame. Both are far smaller. */
const MAX_BYTES = 32 * 1024 ** 2;
/** Boxes that media segments begin with (ISO/IEC 14496-12 §8.16, ISO/IEC 23009-1 §5.10, ISO/IEC 23000-19). */
const FIRST_BOXES = ['styp', 'moof', 'sidx', 'emsg', 'prft', 'free', 'skip', 'ssix'];

/** Whether some bytes begin as a segment of fragmented MP4 does. */
export function beginsAsFragments(bytes: Buffer): boolean {
  return bytes.length >= 8 && FIRST_BOXES.includes(bytes.toString('latin1', 4, 8));
}

type Track = { add(sample: Sample, data: Buffer): void };

/** Parses a segment of fragmented MP4 in chunks. Keeps at most one `moof` and one sample in memory. */
export class FragmentReader {
  readonly #tracks: readonly Mp4Track[];
  readonly #measured = new Map<number, Track>();
  readonly #others = new Set<string>();
  readonly #violations = new Set<string>();
  #video: VideoTrack | null = null;
  #videoEntry: string | null = null;
  #audio: AacSamples | null = null;
  #damage: string | null = null;
  /** Bytes that are not yet read, and their position in the segment. */
  #pending: Buffer = Buffer.alloc(0);
  #position = 0;
  /** The chunks after them, and how many bytes the next step needs: they are joined once. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  #needed = 0;
  /** The box that is being read, and where it ends. */
  #box: (BoxHeader & { begin: number; end: number }) | null = null;
  /** Where the last `moof` begins, its samples, and which is the next one to read. */
  #fragment = 0;
  #samples: Sample[] = [];
  #next = 0;

  constructor({ tracks }: Pick<Initialization, 'tracks'>) {
    this.#tracks = tracks;
  }

  push(chunk: Buffer): void {
    this.#unlessDamaged(() => {
      this.#chunks.push(chunk);
      this.#chunkBytes += chunk.length;
      if (this.#pending.length + this.#chunkBytes < this.#needed) return;
      this.#join();
      this.#readAll();
    });
  }

  #readAll(): void {
    while (this.#step()) {
      // Each step reads a part of a box.
    }
  }

  #join(): void {
    this.#pending = Buffer.concat([this.#pending, ...this.#chunks]);
    this.#chunks = [];
    this.#chunkBytes = 0;
  }

  /** Whether this many bytes are there. If not, they are needed for the next step. Throws if they are too many. */
  #has(bytes: number): boolean {
    if (bytes > MAX_BYTES) throw new Error(`a box or a frame has more than ${MAX_BYTES} bytes`);
    this.#needed = bytes;
    return this.#pending.length >= bytes;
  }

  /** Ends the segment and returns its measurements. */
  end(): SegmentContent {
    this.#unlessDamaged(() => {
      this.#join();
      this.#readAll();
      const isOpen = this.#box !== null && this.#box.end !== Number.POSITIVE_INFINITY;
      if (isOpen || this.#pending.length > 0) throw new Error('the last box is truncated');
      if (this.#next < this.#samples.length) throw new Error('the last frames have no media');
    });
    return {
      damage: this.#damage,
      transport: null,
      fragments: { violations: [...this.#violations], videoEntry: this.#videoEntry },
      beginsDamaged: false,
      video: this.#video?.content() ?? null,
      audio: this.#damage === null ? (this.#audio?.content() ?? null) : null,
      otherStreamTypes: [...this.#others],
    };
  }

  #unlessDamaged(read: () => void): void {
    if (this.#damage !== null) return;
    try {
      read();
    } catch (error) {
      // Lengths that exceed a box cause RangeErrors.
      this.#damage = error instanceof Error ? error.message : String(error);
    }
  }

  /** Whether there may be more to read. */
  #step(): boolean {
    if (this.#box === null) return this.#begin();
    const { type, end } = this.#box;
    if (type === 'mdat') return this.#readSample(end);
    if (type !== 'moof') return this.#skipTo(end);
    if (!this.#has(end - this.#position)) return false;
    const { samples, violations } = readMovieFragment(this.#take(end - this.#position), this.#tracks);
    if (this.#next < this.#samples.length) throw new Error('the frames of a fragment have no media');
    for (const violation of violations) this.#violations.add(violation);
    this.#fragment = this.#box.begin;
    this.#samples = samples;
    this.#next = 0;
    this.#box = null;
    return true;
  }

  #begin(): boolean {
    this.#needed = 0;
    const header = readBoxHeader(this.#pending);
    if (header === null) return false;
    const begin = this.#position;
    this.#box = { ...header, begin, end: begin + header.bytes };
    this.#take(header.headerBytes);
    return true;
  }

  /** Reads the next sample of the media, or skips what follows the last one. */
  #readSample(end: number): boolean {
    const sample = this.#samples[this.#next];
    if (sample === undefined) return this.#skipTo(end);
    const begin = this.#fragment + sample.offset;
    if (begin < this.#position || begin + sample.size > end)
      throw new Error('a frame is outside of the media of its fragment');
    if (begin > this.#position) {
      this.#needed = 0;
      this.#take(Math.min(begin - this.#position, this.#pending.length));
      return this.#position === begin;
    }
    if (!this.#has(sample.size)) return false;
    this.#next += 1;
    this.#measure(sample, this.#take(sample.size));
    return true;
  }

  #skipTo(end: number): boolean {
    this.#needed = 0;
    this.#take(Math.min(end - this.#position, this.#pending.length));
    if (this.#position < end) return false;
    this.#box = null;
    return this.#pending.length > 0;
  }

  #take(count: number): Buffer {
    const taken = this.#pending.subarray(0, count);
    this.#pending = this.#pending.subarray(count);
    this.#position += count;
    return taken;
  }

  #measure(sample: Sample, data: Buffer): void {
    const { id } = sample.track;
    const known = this.#measured.get(id) ?? this.#open(sample.track);
    this.#measured.set(id, known);
    known.add(sample, data);
  }

  #open({ id, entry }: Mp4Track): Track {
    if (entry.kind === 'video' && this.#video === null) {
      const video = new VideoTrack(id, entry.syntax, entry.units);
      this.#video = video;
      this.#videoEntry = entry.type;
      return {
        add: (sample, data) => {
          const { presentation, decoding } = ticksOf(sample);
          video.add({ pts: presentation, dts: decoding }, entry.split(data));
        },
      };
    }
    if (entry.kind === 'aac' && this.#audio === null) {
      const audio = new AacSamples(id, entry.config);
      this.#audio = audio;
      return { add: (sample) => audio.add(sample) };
    }
    this.#others.add(entry.kind === 'aac' ? entry.kind : entry.type);
    return { add: () => {} };
  }
}
