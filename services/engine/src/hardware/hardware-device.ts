import type { Hardware } from '@framelane/contracts/hardware';
import { partsOf } from '@framelane/contracts/renditions';
import type { VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import type { Logger } from '@framelane/service-kit/logger';
import { encoderOf } from '../encoders/encoders.ts';
import { HARDWARE_INTERFACES } from '../encoders/hardware-interfaces.ts';
import type { HardwareRun } from '../ffmpeg/hardware-run.ts';
import { DeviceError } from '../sandbox/device-access.ts';
import type { Size } from '../source/media-source.ts';
import type { DeviceOutcome } from './device-outcome.ts';

/** A video on the device. */
export type DeviceUse = {
  run: HardwareRun;
  /** The device has encoded the video. */
  encoded: () => void;
  /** The device has failed. It is probed before the next video. */
  failed: () => void;
  /** Ends the use. Further calls do nothing. */
  release: () => void;
};

type Parts = {
  device: Pick<HardwareRun, 'hardware' | 'device'>;
  /** Finds out what the device can do. Throws a DeviceError. */
  probe: () => Promise<HardwareRun['variants']>;
  logger: Logger;
  onOutcome: (outcome: DeviceOutcome) => void;
  onReady: (isReady: boolean) => void;
};

/**
 * The device of an engine. It is probed at the start, and before the next video after a failure. A device that fails the probe is not used until
 * the engine starts again.
 */
export class HardwareDevice {
  readonly #parts: Parts;
  #variants: HardwareRun['variants'] | null = null;
  #refusal: string | null = null;
  /** Renditions that the device encodes. */
  #sessions = 0;
  #isSuspect = false;
  #probing: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Probes a device. Rejects only if the probe is aborted. */
  static async start(parts: Parts): Promise<HardwareDevice> {
    const device = new HardwareDevice(parts);
    await device.#probe();
    return device;
  }

  get hardware(): Hardware {
    return this.#parts.device.hardware;
  }

  /** Why the device is not used; null if it is. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Takes the device for the encoded renditions of a video; null if software has to encode them. */
  async take(renditions: readonly VideoRenditionPlan[]): Promise<DeviceUse | null> {
    if (renditions.length === 0) return null;
    if (this.#variants !== null && !this.#fits(renditions)) return this.#without('unfit');
    const { sessions: limit } = HARDWARE_INTERFACES[this.hardware];
    if (limit !== null && this.#sessions + renditions.length > limit) return this.#without('busy');
    this.#sessions += renditions.length;
    const release = once(() => {
      this.#sessions -= renditions.length;
    });
    try {
      if (this.#isSuspect) await this.#probe();
    } catch (error) {
      release();
      throw error;
    }
    if (this.#variants === null) {
      release();
      return this.#without('refused');
    }
    return {
      run: { ...this.#parts.device, variants: this.#variants },
      encoded: () => this.#parts.onOutcome('encoded'),
      failed: () => {
        this.#isSuspect = true;
        this.#parts.onOutcome('failed');
      },
      release,
    };
  }

  #without(outcome: DeviceOutcome): null {
    this.#parts.onOutcome(outcome);
    return null;
  }

  /** Whether the device encodes the renditions of its codecs. */
  #fits(renditions: readonly VideoRenditionPlan[]): boolean {
    const onDevice = renditions.filter(({ name }) => this.#variants?.has(partsOf(name).codec));
    return onDevice.length > 0 && onDevice.every((rendition) => this.#encodes(rendition));
  }

  #encodes({ name, width, height }: VideoRenditionPlan): boolean {
    const encoder = encoderOf(name).hardware[this.hardware];
    return encoder !== undefined && isWithin({ width, height }, encoder);
  }

  /** Videos that begin at the same time share one probe. */
  #probe(): Promise<void> {
    this.#probing ??= this.#probeNow().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  async #probeNow(): Promise<void> {
    const { device, probe, logger, onReady } = this.#parts;
    try {
      this.#variants = await probe();
      this.#isSuspect = false;
      const variants = [...this.#variants].map(([codec, { name }]) => `${codec}: ${name}`);
      logger.info('hardware.ready', { ...device, variants });
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      this.#variants = null;
      this.#isSuspect = false;
      this.#refusal = error.message;
      logger.error('hardware.refused', { ...device, reason: error.message });
    }
    onReady(this.#variants !== null);
  }
}

function isWithin(
  { width, height }: Size,
  { smallest, largest }: { smallest: Size; largest: Size },
): boolean {
  return (
    width >= smallest.width && height >= smallest.height && width <= largest.width && height <= largest.height
  );
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
