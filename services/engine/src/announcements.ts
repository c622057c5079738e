import { hostname } from 'node:os';
import { newId } from '@framelane/contracts/ids';
import { ANNOUNCE_SECONDS, type EngineHardware, type EngineState } from '@framelane/contracts/internal-api';
import type { Logger } from '@framelane/service-kit/logger';
import { VERSION } from '@framelane/service-kit/version';
import type { EngineConfig } from './config.ts';
import type { ControlPlaneClient } from './control-plane-client.ts';
import { freeDiskBytes } from './disk-space.ts';
import type { EngineMetrics } from './metrics/engine-metrics.ts';
import { repeat } from './repeat.ts';

type Dependencies = {
  config: EngineConfig;
  controlPlane: Pick<ControlPlaneClient, 'announce'>;
  metrics: EngineMetrics;
  logger: Logger;
  /** Null without the role `transcode`. */
  ffmpegVersion: () => string | null;
  /** Null without a device. */
  hardware: () => EngineHardware | null;
};

/** Reports this engine and its load to the control plane (ADR 49). Nothing depends on the reports, so failures are only logged. */
export class Announcements {
  readonly #deps: Dependencies;
  readonly #engineId = newId('eng');
  #port = 0;
  #state: EngineState = 'working';
  #end = () => {};
  #isFailing = false;
  /** Each announcement waits for the previous one, so that the final one arrives last. */
  #latest = Promise.resolve();

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** `port` is that of the internal listener. */
  start(port: number): void {
    this.#port = port;
    void this.#announce();
    this.#end = repeat(ANNOUNCE_SECONDS, () => this.#announce());
  }

  /** Announces that the engine takes no new work. */
  stopping(): void {
    this.#state = 'stopping';
    void this.#announce();
  }

  /** Announces that the engine has ended. Never rejects. */
  async stop(): Promise<void> {
    this.#end();
    this.#state = 'stopped';
    await this.#announce();
  }

  #announce(): Promise<void> {
    this.#latest = this.#latest.then(() => this.#send());
    return this.#latest;
  }

  /** Never rejects. */
  async #send(): Promise<void> {
    const { config, controlPlane, metrics, ffmpegVersion, hardware, logger } = this.#deps;
    if (this.#port === 0) return;
    const { roles, transcode } = config;
    const transcodes = roles.includes('transcode');
    try {
      const load = await metrics.load();
      // The engine is announced even if its disk cannot be read.
      const diskFreeBytes = transcodes ? await freeDiskBytes(transcode.workDir).catch(() => null) : null;
      await controlPlane.announce({
        engineId: this.#engineId,
        host: hostname(),
        port: this.#port,
        state: this.#state,
        roles: [...roles],
        version: VERSION,
        nodeVersion: process.versions.node,
        ffmpegVersion: ffmpegVersion()?.slice(0, 200) ?? null,
        hardware: hardware(),
        uptimeSeconds: process.uptime(),
        slots: transcodes ? transcode.slots : 0,
        ...load,
        diskFreeBytes,
      });
      this.#isFailing = false;
    } catch (error) {
      // One warning is enough for an outage.
      logger.log(this.#isFailing ? 'debug' : 'warn', 'engine.announcement_failed', { error });
      this.#isFailing = true;
    }
  }
}
