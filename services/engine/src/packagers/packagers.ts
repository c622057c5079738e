import { type PackagingName, SEGMENT_PACKAGING } from '@framelane/contracts/packaging';
import { MPEG_TS } from './mpeg-ts/mpeg-ts.ts';
import type { Packager } from './packager.ts';

/** The only place that lists the packagers. */
const PACKAGERS: Record<PackagingName, Packager> = { 'mpeg-ts': MPEG_TS };

/** The packager of all segments. */
export const PACKAGER: Packager = PACKAGERS[SEGMENT_PACKAGING];
