import { type AacConfig, AdtsReader, SAMPLES_PER_FRAME } from './adts.ts';
import { type PesPacket, TICKS } from './pes-packets.ts';
import { nearest } from './timestamps.ts';

/** The AAC of a segment. Times in ticks. */
export type AudioContent = {
  /** The packet identifier in a transport stream, the track in MP4. */
  pid: number;
  frames: number;
  config: AacConfig;
  /** Whether the configuration changes within the segment. */
  changes: boolean;
  start: number;
  end: number;
  /** How often a timestamp differs from the end of the previous frame. */
  jumps: number;
};

/** Containers round timestamps. A difference of half a frame is more than rounding. */
const JUMP_FRAMES = 0.5;

/** Measures the audio of a segment. */
export class AudioTrack {
  readonly #pid: number;
  readonly #reader = new AdtsReader();
  #config: AacConfig | null = null;
  #changes = false;
  #frames = 0;
  #jumps = 0;
  #start: number | null = null;
  /** The time of the first sample, moved by each jump, and the number of samples so far. */
  #anchor = 0;
  #samples = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Throws if the bytes are not ADTS. */
  add({ pts, data }: PesPacket): void {
    const unfinished = this.#reader.hasUnfinishedFrame;
    if (pts !== null) this.#addTimestamp(pts, unfinished);
    const { count, samples, config, changes } = this.#reader.push(data);
    this.#frames += count;
    this.#samples += samples;
    this.#config = config;
    this.#changes ||= changes;
  }

  /** Null without any audio that has a timestamp. Throws if the last frame is truncated. */
  content(): AudioContent | null {
    this.#reader.end();
    if (this.#start === null || this.#config === null) return null;
    return {
      pid: this.#pid,
      frames: this.#frames,
      config: this.#config,
      changes: this.#changes,
      start: this.#start,
      end: this.#anchor + this.#ticks(this.#samples),
      jumps: this.#jumps,
    };
  }

  /** A timestamp belongs to the first frame that begins in its PES packet (ISO/IEC 13818-1 §2.4.3.7). */
  #addTimestamp(pts: number, unfinished: boolean): void {
    if (this.#start === null) {
      this.#start = pts;
      this.#anchor = pts;
      return;
    }
    const samples = this.#samples + (unfinished ? SAMPLES_PER_FRAME : 0);
    const expected = this.#anchor + this.#ticks(samples);
    const time = nearest(pts, expected);
    if (Math.abs(time - expected) <= JUMP_FRAMES * this.#ticks(SAMPLES_PER_FRAME)) return;
    this.#jumps += 1;
    this.#anchor = time - this.#ticks(samples);
  }

  #ticks(samples: number): number {
    return (samples * TICKS) / (this.#config?.sampleRate ?? TICKS);
  }
}
