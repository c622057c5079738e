import { constants } from 'node:fs';
import { access, mkdir, realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { MAX_CAPTIONS_BYTES } from '@framelane/captions/captions';
import type { Logger } from '@framelane/service-kit/logger';
import { SettingsError } from '@framelane/service-kit/settings';
import { type Account, ensureSystemAccount, ownAccount } from '@framelane/service-kit/system-account';
import { NEEDED_PROGRAMS, OTHER_PROGRAMS } from '../encoders/encoders.ts';
import type { DeviceAccess } from '../sandbox/device-access.ts';
import {
  type Confinement,
  LAUNCH_PROGRAMS,
  LOWEST_PRIORITY,
  writeLaunchScript,
} from '../sandbox/launch-script.ts';
import { runTool } from '../sandbox/run-tool.ts';
import type { Sandbox, TranscodeSettings } from '../transcode-settings.ts';
import { isPatched, parseVersion } from './version.ts';

/** Paths of the launch scripts of ffmpeg and ffprobe. */
export type MediaTools = {
  ffmpeg: string;
  /** ffmpeg for runs that yield to all others. */
  backgroundFfmpeg: string;
  /** ffmpeg for runs that encode on the device of the engine; undefined without one. */
  deviceFfmpeg: string | undefined;
  /** ffmpeg for runs that decode no video and no audio, such as those that read text tracks and parameter sets, with less memory and smaller files. */
  lightFfmpeg: string;
  /** ffmpeg for runs that put stored renditions into one file, which can be large. */
  remuxFfmpeg: string;
  ffprobe: string;
  /** A local recogniser of speech; undefined without one. */
  recognizer: string | undefined;
  /** The version of ffmpeg, or the first line that it prints for builds from a commit. */
  version: string;
  /** Whether ffmpeg has the encoders of all codecs beside H.264. */
  hasOtherEncoders: boolean;
  /** The account they run as; null for the engine's own account. */
  account: Account | null;
};

/** The user that ffmpeg runs as if the engine is root. It owns no files. */
const ROOTS_ACCOUNT = 'framelane-ffmpeg';

/** Size limit of the text of one track. */
export const MAX_TEXT_FILE_BYTES = 2 * MAX_CAPTIONS_BYTES;

/** Size limit of a download: more than twelve hours of the highest rendition. */
const MAX_DOWNLOAD_BYTES = 128 * 1024 ** 3;

const CHECK_SECONDS = 20;
const NEEDED_ENCODERS = [...NEEDED_PROGRAMS, 'mjpeg', 'libwebp_anim', 'gif'];
const NEEDED_FILTERS = [
  ...['bwdif', 'fps', 'tpad', 'zscale', 'tonemap', 'blackframe', 'tile', 'alimiter'],
  ...['overlay', 'premultiply', 'unpremultiply', 'colorchannelmixer'],
  ...['palettegen', 'paletteuse', 'showwavespic'],
];

/**
 * Finds ffmpeg and ffprobe, writes their launch scripts, and checks that they have the features the engine needs. Throws a
 * SettingsError that says what to install if a program or every sandbox is missing. Logs a warning about an ffmpeg
 * with known vulnerabilities, and about running without a sandbox.
 *
 * @param device what encodes video, if anything does
 */
export async function prepareMediaTools(
  settings: Pick<TranscodeSettings, 'workDir' | 'sandbox' | 'limits' | 'recognizer'>,
  logger: Logger,
  device?: { access: DeviceAccess; reservesAddressSpace: boolean },
): Promise<MediaTools> {
  await Promise.all(LAUNCH_PROGRAMS.map((name) => findProgram(name, 'util-linux and coreutils')));
  const programs = {
    ffmpeg: await findProgram('ffmpeg', 'ffmpeg'),
    ffprobe: await findProgram('ffprobe', 'ffmpeg'),
  };
  const folder = join(settings.workDir, 'tools');
  await mkdir(folder, { recursive: true });
  const account = ownAccount().uid === 0 ? await ensureSystemAccount(ROOTS_ACCOUNT) : null;
  const { limits } = settings;
  const sandbox = await chooseSandbox(settings.sandbox, folder, { limits, account });
  if (sandbox === 'none') {
    const advice = 'Install bubblewrap, or util-linux 2.40 for Landlock, and unset ENGINE_SANDBOX.';
    logger.warn('sandbox.none', { advice });
  } else {
    logger.info('sandbox.chosen', { sandbox });
  }
  const tools = {
    ffmpeg: join(folder, 'ffmpeg'),
    backgroundFfmpeg: join(folder, 'background-ffmpeg'),
    lightFfmpeg: join(folder, 'light-ffmpeg'),
    remuxFfmpeg: join(folder, 'remux-ffmpeg'),
    ffprobe: join(folder, 'ffprobe'),
  };
  const probeLimits = { ...limits, addressSpaceBytes: limits.probeMemoryBytes };
  await writeLaunchScript(tools.ffmpeg, programs.ffmpeg, { sandbox, limits, account });
  const background = { sandbox, limits, account, niceness: LOWEST_PRIORITY };
  await writeLaunchScript(tools.backgroundFfmpeg, programs.ffmpeg, background);
  const lightLimits = { ...probeLimits, fileBytes: MAX_TEXT_FILE_BYTES };
  await writeLaunchScript(tools.lightFfmpeg, programs.ffmpeg, { sandbox, limits: lightLimits, account });
  const remuxLimits = { ...probeLimits, fileBytes: MAX_DOWNLOAD_BYTES };
  await writeLaunchScript(tools.remuxFfmpeg, programs.ffmpeg, { sandbox, limits: remuxLimits, account });
  await writeLaunchScript(tools.ffprobe, programs.ffprobe, { sandbox, limits: probeLimits, account });
  const deviceFfmpeg = device && join(folder, 'device-ffmpeg');
  if (deviceFfmpeg) {
    const space = device.reservesAddressSpace ? Number.POSITIVE_INFINITY : limits.addressSpaceBytes;
    const deviceLimits = { ...limits, addressSpaceBytes: space };
    const confinement = { sandbox, limits: deviceLimits, account, device: device.access };
    await writeLaunchScript(deviceFfmpeg, programs.ffmpeg, confinement);
  }
  const recognizer = await writeRecognizerScript(settings, folder, { sandbox, limits, account });
  return { ...tools, deviceFfmpeg, recognizer, account, ...(await checkFeatures(tools, folder, logger)) };
}

/** Writes the launch script of a local recogniser, if there is one. It may also read its model and itself, wherever they are. Throws a SettingsError if a file is missing. */
async function writeRecognizerScript(
  { recognizer }: Pick<TranscodeSettings, 'recognizer'>,
  folder: string,
  { limits, ...confinement }: Confinement,
): Promise<string | undefined> {
  if (recognizer?.kind !== 'program') return undefined;
  const { program, model } = recognizer;
  await access(program, constants.X_OK).catch((cause: unknown) => {
    throw new SettingsError(`RECOGNIZER_PROGRAM is not a program: ${program}`, { cause });
  });
  await access(model, constants.R_OK).catch((cause: unknown) => {
    throw new SettingsError(`RECOGNIZER_MODEL cannot be read: ${model}`, { cause });
  });
  const script = join(folder, 'recognizer');
  const smallFiles = { ...limits, fileBytes: MAX_TEXT_FILE_BYTES };
  await writeLaunchScript(script, program, {
    ...confinement,
    limits: smallFiles,
    readable: await Promise.all([model, program].map((path) => realpath(path))),
  });
  return script;
}

/** The first allowed sandbox that works on this machine. */
async function chooseSandbox(
  allowed: Sandbox,
  folder: string,
  confinement: Omit<Confinement, 'sandbox'>,
): Promise<Confinement['sandbox']> {
  const candidates = allowed === 'auto' ? (['bubblewrap', 'landlock'] as const) : [allowed];
  const errors: Error[] = [];
  for (const sandbox of candidates) {
    try {
      if (sandbox === 'bubblewrap') await findProgram('bwrap', 'bubblewrap');
      const check = join(folder, 'check');
      await writeLaunchScript(check, await findProgram('env', 'coreutils'), { ...confinement, sandbox });
      await output(check, [], folder);
      return sandbox;
    } catch (error) {
      errors.push(error as Error);
    }
  }
  const reasons = candidates.map((name, at) => `${name}: ${errors[at]?.message}`);
  throw new SettingsError(
    [
      'ffmpeg cannot be confined on this machine.',
      ...reasons,
      'Install bubblewrap (on Debian and Ubuntu: sudo apt-get install bubblewrap) or util-linux 2.40 or newer, or set ENGINE_SANDBOX=none to run ffmpeg without a sandbox. See docs/media-safety.md.',
    ].join('\n'),
    { cause: new AggregateError(errors) },
  );
}

/** Not the package `which`: it also finds programs in the current directory, if PATH has an empty part. */
async function findProgram(name: string, packages: string): Promise<string> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (folder !== '' && found) return path;
  }
  throw new SettingsError(`${name} was not found in PATH. Install ${packages}.`);
}

/** Checks that ffmpeg has what every video needs. */
async function checkFeatures(
  tools: Pick<MediaTools, 'ffmpeg' | 'ffprobe'>,
  folder: string,
  logger: Logger,
): Promise<Pick<MediaTools, 'version' | 'hasOtherEncoders'>> {
  const { names: encoders, stderr } = await list(tools.ffmpeg, '-encoders', folder);
  const { names: filters } = await list(tools.ffmpeg, '-filters', folder);
  // Each start of ffmpeg takes time, so the version comes from the banner. A very long banner may lack its beginning.
  const [banner = ''] = stderr.startsWith('ffmpeg version')
    ? stderr.split('\n')
    : (await output(tools.ffmpeg, ['-version'], folder)).lines;
  const version = parseVersion(banner);
  const missing = [
    ...NEEDED_ENCODERS.filter((name) => !encoders.has(name)),
    ...NEEDED_FILTERS.filter((name) => !filters.has(name)),
  ];
  if (missing.length > 0)
    throw new SettingsError(
      `This ffmpeg lacks ${missing.join(', ')}. Install a build that has them. Found: ${banner}`,
    );
  await output(tools.ffprobe, ['-version'], folder);
  logger.info('ffmpeg.found', { version: version ?? banner });
  if (version && !isPatched(version)) {
    logger.warn('ffmpeg.outdated', {
      version,
      advice: 'Install 7.1.5, 8.0.3, 8.1.3 or newer: they fix known vulnerabilities.',
    });
  }
  const lacking = OTHER_PROGRAMS.filter((name) => !encoders.has(name));
  if (lacking.length > 0) {
    const advice =
      'Other engines must make the codecs that videos do not wait for. Install a build of ffmpeg that has these encoders.';
    logger.warn('ffmpeg.lacks_encoders', { encoders: lacking, advice });
  }
  return { version: version ?? banner, hasOtherEncoders: lacking.length === 0 };
}

/** The names in one of ffmpeg's lists: the second word of each line. ffmpeg prints its banner to stderr. */
async function list(
  program: string,
  option: string,
  folder: string,
): Promise<{ names: Set<string | undefined>; stderr: string }> {
  const { lines, stderr } = await output(program, [option], folder);
  return { names: new Set(lines.map((line) => line.trim().split(/\s+/)[1])), stderr };
}

async function output(
  program: string,
  args: string[],
  cwd: string,
): Promise<{ lines: string[]; stderr: string }> {
  const lines: string[] = [];
  const signal = new AbortController().signal;
  try {
    const stderr = await runTool(program, args, {
      cwd,
      signal,
      limitSeconds: CHECK_SECONDS,
      onLine: (line) => lines.push(line),
    });
    return { lines, stderr };
  } catch (cause) {
    throw new SettingsError(`${program} could not be run: ${(cause as Error).message}`, { cause });
  }
}
