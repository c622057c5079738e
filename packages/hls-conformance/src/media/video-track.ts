import { isSlice, NAL, nalType, readSequenceParameters, type SequenceParameters } from './h264.ts';
import type { PesPacket } from './pes-packets.ts';
import { nearest } from './timestamps.ts';

/** The H.264 video of a segment. Times in ticks. */
export type VideoContent = {
  /** The packet identifier in a transport stream, the track in MP4. */
  pid: number;
  frames: number;
  /** PES packets without a timestamp, or access units with more than one delimiter: their frames have no known times. */
  untimed: number;
  /** Presentation times of the first stored frame, the first displayed one and the last displayed one. */
  first: number;
  earliest: number;
  latest: number;
  firstDts: number;
  lastDts: number;
  /** How often a decoding time is not later than the previous one. */
  dtsFalls: number;
  /** Times between consecutively displayed frames; null for a single frame. */
  shortestStep: number | null;
  longestStep: number | null;
  /** Types of the NAL units up to and including the first slice. */
  openingUnits: number[];
  /** The first parameter set, or why it cannot be read; null without one. */
  parameters: SequenceParameters | string | null;
  /** What the sequence parameter sets say about the frames, as JSON; at most two different ones. */
  parameterSets: readonly string[];
  /** Presentation times of IDR frames. */
  idrTimes: number[];
};

/** Measures the video of a segment. */
export class VideoTrack {
  readonly #pid: number;
  readonly #times: number[] = [];
  readonly #idrTimes: number[] = [];
  readonly #openingUnits: number[] = [];
  #frames = 0;
  #untimed = 0;
  #firstDts = Number.NaN;
  #lastDts = Number.NaN;
  #dtsFalls = 0;
  #parameters: VideoContent['parameters'] = null;
  readonly #parameterSets = new Set<string>();

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Adds a frame with its NAL units. */
  add({ pts, dts }: Pick<PesPacket, 'pts' | 'dts'>, units: Iterable<Buffer>): void {
    const types = this.#readUnits(units);
    const isFirst = this.#frames === 0;
    this.#frames += 1;
    if (isFirst) {
      const slice = types.findIndex(isSlice);
      this.#openingUnits.push(...types.slice(0, slice === -1 ? undefined : slice + 1));
    }
    if (types.filter((type) => type === NAL.delimiter).length > 1 || pts === null || dts === null) {
      this.#untimed += 1;
      return;
    }
    const time = nearest(pts, this.#times[0] ?? pts);
    this.#times.push(time);
    if (types.includes(NAL.idrSlice)) this.#idrTimes.push(time);
    this.#addDts(nearest(dts, time));
  }

  /** Null without any frame that has a timestamp. */
  content(): VideoContent | null {
    const [first] = this.#times;
    if (first === undefined) return null;
    const shown = this.#times.toSorted((a, b) => a - b);
    const steps = shown.slice(1).map((time, at) => time - (shown[at] ?? time));
    return {
      pid: this.#pid,
      frames: this.#frames,
      untimed: this.#untimed,
      first,
      earliest: shown[0] ?? first,
      latest: shown.at(-1) ?? first,
      firstDts: this.#firstDts,
      lastDts: this.#lastDts,
      dtsFalls: this.#dtsFalls,
      shortestStep: extreme(steps, Math.min),
      longestStep: extreme(steps, Math.max),
      openingUnits: this.#openingUnits,
      parameters: this.#parameters,
      parameterSets: [...this.#parameterSets],
      idrTimes: this.#idrTimes,
    };
  }

  #readUnits(units: Iterable<Buffer>): number[] {
    const types: number[] = [];
    for (const unit of units) {
      const type = nalType(unit);
      types.push(type);
      if (type !== NAL.sps) continue;
      const parameters = parametersOf(unit);
      this.#parameters ??= parameters;
      if (this.#parameterSets.size < 2) this.#parameterSets.add(JSON.stringify(parameters));
    }
    return types;
  }

  #addDts(dts: number): void {
    if (Number.isNaN(this.#firstDts)) this.#firstDts = dts;
    else if (dts <= this.#lastDts) this.#dtsFalls += 1;
    this.#lastDts = dts;
  }
}

function parametersOf(unit: Buffer): SequenceParameters | string {
  try {
    return readSequenceParameters(unit);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function extreme(values: readonly number[], pick: (a: number, b: number) => number): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => pick(a, b));
}
