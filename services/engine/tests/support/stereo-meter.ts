import { samples } from './media.ts';

const SAMPLE_RATE = 48_000;

/**
 * Measures mono or stereo audio at 48 kHz, per stereo channel. `tone` is the amplitude at a frequency, with 1 as full scale. `loudness` is the
 * amplitude of a tone with the power of the whole signal.
 */
export class StereoMeter {
  readonly #samples: Float32Array;

  /** @param samples interleaved stereo */
  constructor(samples: Float32Array) {
    this.#samples = samples;
  }

  static async open(path: string): Promise<StereoMeter> {
    return new StereoMeter(await samples(path, '-ac', '2'));
  }

  tone(hertz: number): [left: number, right: number] {
    return [this.#tone(hertz, 0), this.#tone(hertz, 1)];
  }

  loudness(): [left: number, right: number] {
    return [this.#loudness(0), this.#loudness(1)];
  }

  /** The highest sample of both channels. */
  peak(): number {
    return this.#samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
  }

  #tone(hertz: number, channel: number): number {
    const step = (2 * Math.PI * hertz) / SAMPLE_RATE;
    let [real, imaginary] = [0, 0];
    for (let at = channel; at < this.#samples.length; at += 2) {
      const phase = (step * (at - channel)) / 2;
      real += (this.#samples[at] ?? 0) * Math.cos(phase);
      imaginary += (this.#samples[at] ?? 0) * Math.sin(phase);
    }
    return (2 * Math.hypot(real, imaginary)) / (this.#samples.length / 2);
  }

  #loudness(channel: number): number {
    let power = 0;
    for (let at = channel; at < this.#samples.length; at += 2) power += (this.#samples[at] ?? 0) ** 2;
    return Math.sqrt((2 * power) / (this.#samples.length / 2));
  }
}
