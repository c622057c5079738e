import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Logger } from '@framelane/service-kit/logger';
import { SettingsError } from '@framelane/service-kit/settings';
import { CONFINING_PROGRAMS, writeConfinedProgram } from './confinement.ts';
import { isPatched, parseVersion } from './ffmpeg-version.ts';
import { runTool } from './run-tool.ts';
import type { TranscodeSettings } from './transcode-settings.ts';

/** Paths of the confined programs. */
export type MediaTools = { ffmpeg: string; ffprobe: string };

const CHECK_SECONDS = 20;
const NEEDED_ENCODERS = ['libx264', 'aac', 'mjpeg'];
const NEEDED_FILTERS = ['bwdif', 'fps', 'tpad', 'zscale', 'tonemap', 'signalstats', 'tile', 'alimiter'];

/**
 * Finds ffmpeg and ffprobe, confines them, and sees whether they can do what is asked of them. Throws a SettingsError
 * that says what to install; warns of an ffmpeg with known holes, and of a missing sandbox.
 */
export async function prepareMediaTools(
  settings: Pick<TranscodeSettings, 'workDir' | 'sandbox' | 'limits'>,
  logger: Logger,
): Promise<MediaTools> {
  await Promise.all(CONFINING_PROGRAMS.map((name) => findProgram(name, 'util-linux and coreutils')));
  const programs = {
    ffmpeg: await findProgram('ffmpeg', 'ffmpeg'),
    ffprobe: await findProgram('ffprobe', 'ffmpeg'),
  };
  const folder = join(settings.workDir, 'tools');
  await mkdir(folder, { recursive: true });
  const confine = async (sandbox: 'bubblewrap' | 'none'): Promise<MediaTools> => {
    const tools = { ffmpeg: join(folder, 'ffmpeg'), ffprobe: join(folder, 'ffprobe') };
    const { limits } = settings;
    const addressSpace = { ffmpeg: limits.addressSpaceBytes, ffprobe: limits.probeMemoryBytes };
    for (const name of ['ffmpeg', 'ffprobe'] as const) {
      const ofTool = { ...limits, memoryBytes: addressSpace[name] };
      await writeConfinedProgram(tools[name], programs[name], sandbox, ofTool);
    }
    await checkAbilities(tools, folder, logger);
    return tools;
  };
  if (settings.sandbox === 'none') return confine('none');
  let advice = 'Install bubblewrap to confine ffmpeg fully.';
  try {
    await findProgram('bwrap', 'bubblewrap');
    advice = 'bubblewrap does not work here. It needs user namespaces, which many containers forbid.';
    return await confine('bubblewrap');
  } catch (error) {
    if (settings.sandbox === 'bubblewrap') throw error;
    logger.warn('sandbox.unavailable', { advice, error });
    return confine('none');
  }
}

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

async function checkAbilities(tools: MediaTools, folder: string, logger: Logger): Promise<void> {
  const [banner = ''] = await output(tools.ffmpeg, ['-version'], folder);
  const version = parseVersion(banner);
  const encoders = await names(tools.ffmpeg, '-encoders', folder);
  const filters = await names(tools.ffmpeg, '-filters', folder);
  const missing = [
    ...NEEDED_ENCODERS.filter((name) => !encoders.has(name)),
    ...NEEDED_FILTERS.filter((name) => !filters.has(name)),
  ];
  if (missing.length > 0) throw new SettingsError(`This ffmpeg lacks ${missing.join(', ')}: ${banner}`);
  await output(tools.ffprobe, ['-version'], folder);
  logger.info('ffmpeg.found', { version: version ?? banner });
  if (version && !isPatched(version)) {
    logger.warn('ffmpeg.outdated', { version, advice: 'Versions 7.1.5, 8.0.3 and 8.1.3 fix known holes.' });
  }
}

/** The names ffmpeg lists: the second word of each line. */
async function names(program: string, list: string, folder: string): Promise<Set<string | undefined>> {
  const lines = await output(program, ['-hide_banner', list], folder);
  return new Set(lines.map((line) => line.trim().split(/\s+/)[1]));
}

async function output(program: string, args: string[], cwd: string): Promise<string[]> {
  const lines: string[] = [];
  const signal = new AbortController().signal;
  try {
    await runTool(program, args, {
      cwd,
      signal,
      limitSeconds: CHECK_SECONDS,
      onLine: (line) => lines.push(line),
    });
  } catch (cause) {
    throw new SettingsError(`${program} could not be run. Does its file system allow programs?`, {
      cause,
    });
  }
  return lines;
}
