import type { PesPacket } from './pes-packets.ts';
import { nearest } from './timestamps.ts';
import type { FrameStart, SequenceParameters, VideoSyntax } from './video-syntax.ts';

/** The video of a segment. Times in ticks. */
export type VideoContent = {
  /** The packet identifier in a transport stream, the track in MP4. */
  pid: number;
  codec: VideoSyntax['name'];
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
  /** The first frame: its beginning, null if it has none, and the names of the parameter sets that do not precede it. */
  opening: { start: FrameStart | null; lacking: string[] };
  /** Frames with parameter sets that are not in the sample entry. */
  framesWithOtherSets: number;
  /** Frames with messages (see `VideoSyntax`). */
  framesWithMessages: number;
  /** The first parameter set, or why it cannot be read; null without one. */
  parameters: SequenceParameters | string | null;
  /** What the sequence parameter sets say about the frames, as JSON; at most two different ones. */
  parameterSets: readonly string[];
  /** Presentation times of IDR frames, or of key frames of AV1 that are shown. */
  idrTimes: number[];
};

/** Measures the video of a segment. */
export class VideoTrack {
  readonly #pid: number;
  readonly #syntax: VideoSyntax;
  readonly #entrySets: readonly Buffer[];
  readonly #times: number[] = [];
  readonly #idrTimes: number[] = [];
  #opening: VideoContent['opening'] = { start: null, lacking: [] };
  /** Types of the parameter sets that a decoder has. */
  readonly #known = new Set<number>();
  #framesWithOtherSets = 0;
  #framesWithMessages = 0;
  #frames = 0;
  #untimed = 0;
  #firstDts = Number.NaN;
  #lastDts = Number.NaN;
  #dtsFalls = 0;
  #parameters: VideoContent['parameters'] = null;
  readonly #parameterSets = new Set<string>();

  /** The sets are those of the sample entry. */
  constructor(pid: number, syntax: VideoSyntax, sets: readonly Buffer[] = []) {
    this.#pid = pid;
    this.#syntax = syntax;
    this.#entrySets = sets;
    for (const set of sets) {
      this.#readSequence(set);
      if (syntax.setsAreInEntry) this.#known.add(syntax.typeOf(set));
    }
  }

  /** Adds a frame with its units. Throws if one is truncated. */
  add({ pts, dts }: Pick<PesPacket, 'pts' | 'dts'>, units: Iterable<Buffer>): void {
    const { start, lacking, delimiters } = this.#readUnits(units);
    if (this.#frames === 0) this.#opening = { start, lacking };
    this.#frames += 1;
    if (delimiters > 1 || pts === null || dts === null) {
      this.#untimed += 1;
      return;
    }
    const time = nearest(pts, this.#times[0] ?? pts);
    this.#times.push(time);
    if (start?.isKey) this.#idrTimes.push(time);
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
      codec: this.#syntax.name,
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
      opening: this.#opening,
      framesWithOtherSets: this.#framesWithOtherSets,
      framesWithMessages: this.#framesWithMessages,
      parameters: this.#parameters,
      parameterSets: [...this.#parameterSets],
      idrTimes: this.#idrTimes,
    };
  }

  #readUnits(units: Iterable<Buffer>): VideoContent['opening'] & { delimiters: number } {
    const { parameterSets, delimiterType } = this.#syntax;
    const found: VideoContent['opening'] = { start: null, lacking: [] };
    let [delimiters, otherSets, messages] = [0, 0, 0];
    for (const unit of units) {
      const type = this.#syntax.typeOf(unit);
      delimiters += Number(type === delimiterType);
      messages += Number(this.#syntax.isMessage(unit));
      if (parameterSets.has(type)) {
        if (!this.#entrySets.some((set) => set.equals(unit))) otherSets += 1;
        this.#known.add(type);
        this.#readSequence(unit);
      }
      if (found.start !== null) continue;
      found.start = this.#syntax.frameOf(unit);
      if (found.start !== null) found.lacking = this.#lacking();
    }
    if (found.start === null) found.lacking = this.#lacking();
    this.#framesWithOtherSets += Math.min(1, otherSets);
    this.#framesWithMessages += Math.min(1, messages);
    return { ...found, delimiters };
  }

  #lacking(): string[] {
    return [...this.#syntax.parameterSets].flatMap(([type, name]) => (this.#known.has(type) ? [] : name));
  }

  #readSequence(unit: Buffer): void {
    if (this.#syntax.typeOf(unit) !== this.#syntax.sequenceType) return;
    const parameters = parametersOf(unit, this.#syntax);
    this.#parameters ??= parameters;
    if (this.#parameterSets.size < 2) this.#parameterSets.add(JSON.stringify(parameters));
  }

  #addDts(dts: number): void {
    if (Number.isNaN(this.#firstDts)) this.#firstDts = dts;
    else if (dts <= this.#lastDts) this.#dtsFalls += 1;
    this.#lastDts = dts;
  }
}

function parametersOf(unit: Buffer, syntax: VideoSyntax): SequenceParameters | string {
  try {
    return syntax.readSequence(unit);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function extreme(values: readonly number[], pick: (a: number, b: number) => number): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => pick(a, b));
}
