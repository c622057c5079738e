import { isSlice, NAL, nalType, nalUnits, readSequenceParameters, type SequenceParameters } from './h264.ts';
import type { PesPacket } from './pes-packets.ts';
import { nearest } from './timestamps.ts';

/** The H.264 pictures of a segment. Times in ticks. */
export type VideoContent = {
  pid: number;
  frames: number;
  /** Pictures whose time is not given, and PES packets with more than one picture: then times tell too little. */
  untimed: number;
  /** Time of the picture that is stored first, and when the first and the last are shown. */
  first: number;
  earliest: number;
  latest: number;
  firstDts: number;
  lastDts: number;
  /** How often a picture is to be decoded no later than the one before it. */
  dtsFalls: number;
  /** Times between pictures shown one after the other; null for a single one. */
  shortestStep: number | null;
  longestStep: number | null;
  /** Types of the NAL units up to the first picture, its first slice included. */
  openingUnits: number[];
  /** The first parameter set, or why it cannot be read; null without one. */
  parameters: SequenceParameters | string | null;
  /** When IDR pictures are shown. */
  idrTimes: number[];
};

/** Collects what the rules ask of a segment's pictures. */
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

  constructor(pid: number) {
    this.#pid = pid;
  }

  add({ pts, dts, data }: PesPacket): void {
    const types = this.#readUnits(data);
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

  /** Null when there was no picture with a time. */
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
      idrTimes: this.#idrTimes,
    };
  }

  #readUnits(data: Buffer): number[] {
    const types: number[] = [];
    for (const unit of nalUnits(data)) {
      const type = nalType(unit);
      types.push(type);
      if (type === NAL.sps && this.#parameters === null) this.#parameters = parametersOf(unit);
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
