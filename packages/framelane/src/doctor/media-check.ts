import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineConfig } from '@framelane/engine/config';
import { prepareMediaTools } from '@framelane/engine/ffmpeg/media-tools';
import { collectingLogger } from './collected-events.ts';
import type { Finding } from './finding.ts';
import { mediaFindings } from './media-findings.ts';

/** Starts ffmpeg in its sandbox, as the engine does at its start. */
export async function checkMedia({ transcode }: Pick<EngineConfig, 'transcode'>): Promise<Finding[]> {
  const workDir = await mkdtemp(join(tmpdir(), 'framelane-doctor-'));
  const { logger, events } = collectingLogger();
  try {
    await prepareMediaTools({ ...transcode, workDir }, logger);
    return mediaFindings(events, undefined);
  } catch (error) {
    return mediaFindings(events, error as Error);
  } finally {
    await rm(workDir, { recursive: true });
  }
}
