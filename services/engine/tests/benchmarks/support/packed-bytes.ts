import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGING_NAMES, type PackagingName } from '@framelane/contracts/packaging';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { packagerOf } from '../../../src/packagers/packagers.ts';
import { readSegmentFile } from '../../../src/packagers/segment-files.ts';
import { OUTPUT_FOLDER } from '../../../src/sandbox/job-folder.ts';
import { type BaselineSettings, runBare } from './baselines.ts';

/** Bytes of the segments of each rendition of a plan, packed in each way. The encoders make the same frames each time. */
export async function packedBytes(
  directory: string,
  plan: EncodePlan,
  settings: BaselineSettings,
): Promise<Map<string, Record<PackagingName, number>>> {
  const found = new Map<string, Record<PackagingName, number>>();
  const folder = join(directory, OUTPUT_FOLDER);
  for (const packaging of PACKAGING_NAMES) {
    await runBare(directory, { ...plan, packaging }, settings);
    for (const name of await readdir(folder)) {
      const segment = readSegmentFile(name, packagerOf(packaging));
      if (segment !== null) {
        const sizes = found.get(segment.rendition) ?? { ts: 0, cmaf: 0 };
        sizes[packaging] += (await stat(join(folder, name))).size;
        found.set(segment.rendition, sizes);
      }
      await rm(join(folder, name));
    }
  }
  return found;
}
