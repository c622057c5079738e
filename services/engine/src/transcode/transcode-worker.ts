import { join, resolve } from 'node:path';
import type { EngineHardware } from '@framelane/contracts/internal-api';
import type { CommandType } from '@framelane/contracts/messages';
import { DERIVATION_COMMANDS, type DerivationCommand } from '@framelane/contracts/outputs/kinds';
import { queueFor } from '@framelane/contracts/topology';
import { type MessageHandler, UnprocessableMessageError } from '@framelane/message-bus/message-bus';
import { freeDiskBytes, headroomBytes } from '../disk-space.ts';
import type { MediaTools } from '../ffmpeg/media-tools.ts';
import { findDevice } from '../hardware/find-device.ts';
import { HardwareDevice } from '../hardware/hardware-device.ts';
import { probeDevice } from '../hardware/probe-device.ts';
import { createRecognizer } from '../recognizers/recognizers.ts';
import { DeviceError } from '../sandbox/device-access.ts';
import { killOrphans } from '../sandbox/orphans.ts';
import { removeTree } from '../sandbox/remove-tree.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import { handleCommand } from './command-handler.ts';
import { CommandIntake } from './command-intake.ts';
import { DiskReservations } from './disk-reservations.ts';
import { EngineStoppedError } from './failure-report.ts';
import { FFMPEG } from './media.ts';
import { SourceCache } from './source-cache.ts';
import { preparePrivateFolder, prepareWorkDirectory } from './work-directory.ts';
import type { WorkerDependencies, WorkerParts } from './worker-parts.ts';

/** Derivations at a time, by the command that announces them. They encode next to nothing, so they may run beside the work of all slots. */
const DERIVATION_SLOTS: Record<Exclude<DerivationCommand, 'transcribe'>, number> = { derive: 1, picture: 2 };

/** Clips at a time. They encode some seconds only, so they may run beside the work of all slots. */
const CLIP_SLOTS = 1;

/**
 * Handles `plan` commands, one in each slot, `task` commands, one on each processor while a slot is free, `background` commands, one on each processor
 * while nothing else is transcoded and only if ffmpeg has all encoders, and commands of derivations and clips, a few at a time; those of speech recognition only with a recogniser.
 * Publishes the result of each task. Plans go to the control plane by HTTP.
 *
 * A command is acknowledged when its work has ended: the result was published and confirmed, a plan with tasks was stored, the work became
 * obsolete, or there was nothing to claim. `leaveToOthers` handles one whose source does not fit on the disk.
 *
 * If this process ends earlier, the broker redelivers the command. It cannot claim the same task again while the lease is valid (it may
 * claim another task, if one waits). When the lease has expired, the control plane starts the next try. Only the holder of the lease can
 * finish it.
 */
export class TranscodeWorker {
  readonly #deps: WorkerDependencies;
  readonly #settings: TranscodeSettings;
  readonly #stopping = new AbortController();
  #parts: WorkerParts | undefined;
  #intakes: CommandIntake[] = [];
  /** Those whose work begins only while no video is transcoded. */
  #yielding: CommandIntake[] = [];
  /** Slots in use. */
  #busy = 0;
  /** Plans and tasks of plans in progress. */
  #transcodes = 0;

  constructor(deps: WorkerDependencies) {
    this.#deps = deps;
    this.#settings = { ...deps.settings, workDir: resolve(deps.settings.workDir) };
  }

  /** Removes processes and files of an earlier run, checks ffmpeg, and starts to consume commands. */
  async start(): Promise<void> {
    const { logger, objects, bus, metrics, media = FFMPEG } = this.#deps;
    const { workDir, slots, threads } = this.#settings;
    const jobsDir = join(workDir, 'jobs');
    const sourcesDir = join(workDir, 'sources');
    await prepareWorkDirectory(workDir);
    const folders = [jobsDir, sourcesDir, join(workDir, 'tools')];
    // This precedes any removal: content that other users can change cannot be removed safely.
    for (const folder of folders) await preparePrivateFolder(folder);
    for (const pid of await killOrphans(jobsDir)) logger.warn('sandbox.orphan_killed', { pid });
    for (const folder of [jobsDir, sourcesDir]) {
      await removeTree(folder);
      await preparePrivateFolder(folder);
    }
    const fetchesAsLinks = (await objects.fetchesAsLinks?.(jobsDir)) ?? false;
    const sources = new SourceCache({
      folder: sourcesDir,
      objects,
      fetchesAsLinks,
      onFetched: (bytes) => metrics.sourceFetched(bytes),
    });
    const disk = new DiskReservations(
      () => this.#freeBytes(jobsDir, sources),
      () => sources.removeLeastRecentlyUsed(),
    );
    const device = this.#settings.hardware && (await findDevice(this.#settings.hardware));
    const tools = await media.prepareTools(
      this.#settings,
      logger,
      device instanceof DeviceError ? undefined : device,
    );
    const missing = device instanceof DeviceError ? device : undefined;
    const hardware = await this.#startDevice(missing, tools, jobsDir);
    const recognizer = createRecognizer(this.#settings.recognizer, {
      ...tools,
      script: tools.recognizer,
      threads,
      apiKey: this.#deps.recognizerApiKey,
    });
    const parts = {
      ...this.#deps,
      media,
      settings: this.#settings,
      tools,
      hardware,
      recognizer,
      jobsDir,
      disk,
      sources,
      stopping: this.#stopping.signal,
    };
    this.#parts = parts;
    const hasDiskSpace = async () => (await disk.hasDiskSpace()) && (await headroomBytes(objects)) >= 0;
    const handle = (
      type: CommandType,
      within: (work: () => Promise<void>) => Promise<void>,
    ): MessageHandler => {
      return (message, delivery) => {
        if (message.type !== type) throw unexpected(message);
        this.#stopping.signal.throwIfAborted();
        return within(() => handleCommand(type, message.data, delivery, parts));
      };
    };
    const common = { bus, logger, hasDiskSpace };
    const tasks = new CommandIntake({
      ...common,
      queue: queueFor('task'),
      slots: slots * threads,
      hasPriorityWork: () => this.#busy >= slots,
      handle: handle('task', (work) => this.#asTranscode(() => metrics.inTask(work))),
    });
    const plans = new CommandIntake({
      ...common,
      queue: queueFor('plan'),
      slots,
      hasPriorityWork: () => false,
      handle: handle('plan', (work) => this.#asTranscode(() => this.#inSlot(tasks, work))),
    });
    const derivations = DERIVATION_COMMANDS.filter(
      (command) => command !== 'transcribe' || recognizer !== undefined,
    ).map((command) => {
      const isLocal = command === 'transcribe' && recognizer?.isLocal === true;
      const intake = new CommandIntake({
        ...common,
        queue: queueFor(command),
        slots: command === 'transcribe' ? (this.#settings.recognizer?.slots ?? 1) : DERIVATION_SLOTS[command],
        hasPriorityWork: () => isLocal && this.#transcodes > 0,
        handle: handle(command, (work) => metrics.inTask(work)),
      });
      if (isLocal) this.#yielding.push(intake);
      return intake;
    });
    const background = new CommandIntake({
      ...common,
      queue: queueFor('background'),
      slots: slots * threads,
      hasPriorityWork: () => this.#transcodes > 0,
      handle: handle('background', (work) => metrics.inTask(work)),
    });
    this.#yielding.push(background);
    const optional = tools.hasOtherEncoders ? [background] : [];
    const clips = new CommandIntake({
      ...common,
      queue: queueFor('clip'),
      slots: CLIP_SLOTS,
      hasPriorityWork: () => false,
      handle: handle('clip', (work) => metrics.inTask(work)),
    });
    this.#intakes = [tasks, plans, ...optional, ...derivations, clips];
    for (const intake of this.#intakes) await intake.start();
  }

  /** Probes the device of the settings. It is refused if it is missing, or fails the probe. */
  async #startDevice(
    missing: DeviceError | undefined,
    tools: MediaTools,
    jobsDir: string,
  ): Promise<HardwareDevice | undefined> {
    const { hardware, maxRates } = this.#settings;
    if (hardware === undefined) return undefined;
    const { logger, metrics } = this.#deps;
    const device = { hardware: hardware.kind, device: hardware.device };
    const signal = this.#stopping.signal;
    return HardwareDevice.start({
      device,
      probe: async () => {
        if (missing) throw missing;
        return probeDevice(device, { tools, maxRates, jobsDir, signal });
      },
      logger,
      onOutcome: (outcome) => metrics.deviceUsed(outcome),
      onReady: (isReady) => metrics.deviceProbed(isReady),
    });
  }

  /** The version of ffmpeg; null before `start`. */
  get ffmpegVersion(): string | null {
    return this.#parts?.tools.version ?? null;
  }

  /** The interface of the device that encodes video, and why the device is not used, if it is not; null without one, and before `start`. */
  get hardware(): EngineHardware | null {
    const device = this.#parts?.hardware;
    return device ? { kind: device.hardware, refusal: device.refusal?.slice(0, 500) ?? null } : null;
  }

  /** Stops all running jobs; their tasks are handed back. Takes a few seconds, or longer if the broker is unavailable. */
  async stop(): Promise<void> {
    this.#stopping.abort(new EngineStoppedError('The engine is stopping'));
    await Promise.all(this.#intakes.map((intake) => intake.stop()));
  }

  /** While videos are transcoded, no optional task and no local recognition of speech begins: it would slow them down. */
  async #asTranscode(work: () => Promise<void>): Promise<void> {
    this.#transcodes += 1;
    for (const intake of this.#yielding) intake.halt();
    try {
      await work();
    } finally {
      this.#transcodes -= 1;
    }
  }

  /** While all slots are in use, running tasks continue and no new task begins. */
  async #inSlot(tasks: CommandIntake, work: () => Promise<void>): Promise<void> {
    this.#busy += 1;
    if (this.#busy >= this.#settings.slots) tasks.halt();
    try {
      await this.#deps.metrics.inSlot(work);
    } finally {
      this.#busy -= 1;
      tasks.recheck();
    }
  }

  /** Bytes that jobs may write. The disk of the objects has its own reserve. */
  async #freeBytes(jobsDir: string, sources: SourceCache): Promise<number> {
    if (sources.fetchesAsLinks) return headroomBytes(this.#deps.objects);
    return (await freeDiskBytes(jobsDir)) - this.#settings.limits.reservedDiskBytes;
  }
}

function unexpected({ type }: Parameters<MessageHandler>[0]): Error {
  return new UnprocessableMessageError(`The engine does not handle ${type}`);
}
