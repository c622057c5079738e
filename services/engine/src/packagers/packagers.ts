import type { PackagingName } from '@framelane/contracts/packaging';
import { CMAF } from './cmaf/cmaf.ts';
import { MPEG_TS } from './mpeg-ts/mpeg-ts.ts';
import type { Packager } from './packager.ts';

/** The only place that lists the packagers. */
const PACKAGERS: Record<PackagingName, Packager> = { ts: MPEG_TS, cmaf: CMAF };

export function packagerOf(name: PackagingName): Packager {
  return PACKAGERS[name];
}
