import { samples } from './media.ts';

const SAMPLE_RATE = 48_000;

/**
 * How loud a tone is in each ear of stereo sound at 48 kHz, 1 being as loud as can be: the part of the spectrum at its
 * frequency. `loudness` is that of a tone as strong as all that is heard.
 */
export class Ears {
  readonly #sound: Float32Array;

  private constructor(sound: Float32Array) {
    this.#sound = sound;
  }

  static async listenTo(path: string): Promise<Ears> {
    return new Ears(await samples(path));
  }

  tone(hertz: number): [left: number, right: number] {
    return [this.#tone(hertz, 0), this.#tone(hertz, 1)];
  }

  loudness(): [left: number, right: number] {
    return [this.#loudness(0), this.#loudness(1)];
  }

  /** The highest sample of either ear. */
  peak(): number {
    return this.#sound.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
  }

  #tone(hertz: number, ear: number): number {
    const step = (2 * Math.PI * hertz) / SAMPLE_RATE;
    let [real, imaginary] = [0, 0];
    for (let at = ear; at < this.#sound.length; at += 2) {
      const phase = (step * (at - ear)) / 2;
      real += (this.#sound[at] ?? 0) * Math.cos(phase);
      imaginary += (this.#sound[at] ?? 0) * Math.sin(phase);
    }
    return (2 * Math.hypot(real, imaginary)) / (this.#sound.length / 2);
  }

  #loudness(ear: number): number {
    let power = 0;
    for (let at = ear; at < this.#sound.length; at += 2) power += (this.#sound[at] ?? 0) ** 2;
    return Math.sqrt((2 * power) / (this.#sound.length / 2));
  }
}
