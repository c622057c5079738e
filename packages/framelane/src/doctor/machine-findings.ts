import { type MissingPrograms, messageForMissing } from '../machine/missing-programs.js';
import { type Finding, failed, passed, warning } from './finding.ts';

const GIB = 1024 ** 3;

/** One job of 1080p (0.7 GiB), the node (0.75 GiB) and PostgreSQL: docs/capacity.md. */
const ENOUGH_MEMORY_BYTES = 2 * GIB;

export function systemFinding(facts: {
  node: string;
  version: string;
  system: string;
  architecture: string;
}): Finding {
  const { node, version, system, architecture } = facts;
  return passed('Program', `Framelane ${version}, Node ${node}, ${system} (${architecture})`);
}

/** `totalBytes` is what this process may use, in a container its limit. */
export function memoryFinding(totalBytes: number): Finding {
  const detail = `${gibibytes(totalBytes)} GiB`;
  return totalBytes < ENOUGH_MEMORY_BYTES
    ? warning(
        'Memory',
        detail,
        'A video of 1080p needs 2 GiB in all, and 4K up to 4 GiB. With less memory, the kernel ends programs, and transcodes are repeated.',
      )
    : passed('Memory', detail);
}

export function programsFinding(missing: MissingPrograms): Finding {
  return missing.programs.length === 0
    ? passed('System programs', 'all are installed')
    : failed('System programs', messageForMissing(missing));
}

/** `headroomBytes` is what can be stored before uploads are refused. */
export function diskFinding(directory: string, headroomBytes: number): Finding {
  const detail = `${gibibytes(Math.max(0, headroomBytes))} GiB for videos in ${directory}`;
  const advice = 'Delete files, or set DATA_DIR to a directory on a larger disk.';
  if (headroomBytes <= 0) return failed('Disk', `${detail}; uploads are refused`, advice);
  return headroomBytes < 10 * GIB ? warning('Disk', detail, advice) : passed('Disk', detail);
}

function gibibytes(bytes: number): string {
  return (bytes / GIB).toFixed(1);
}
