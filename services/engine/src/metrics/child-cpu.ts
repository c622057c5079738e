import { readFileSync } from 'node:fs';

/** The unit of /proc, whatever the kernel itself counts in (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds, in user and kernel mode, of all programs this process started that have ended, with those that they
 * started in turn. Undefined where there is no Linux to tell.
 */
export function childCpuSeconds(): number | undefined {
  let stat: string;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return undefined;
  }
  // The second field, the name of the program in brackets, may have spaces; cutime and cstime are the 16th and 17th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
