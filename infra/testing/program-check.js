import { runStep } from '../bootstrap/run.js';

const LAST_LINES = 14;

/**
 * Runs a program as a check that passes or fails as a whole. `title` and the last lines of the output become the failure, if `onLine` is among
 * the options of `runStep`: otherwise the output ends with them anyway.
 */
export async function runProgramCheck(title, [program, ...args], { onLine, ...options } = {}) {
  const lines = [];
  const keep = (line) => {
    if (line.trim() !== '') lines.push(line);
    if (lines.length > LAST_LINES) lines.shift();
    onLine(line);
  };
  const code = await runStep(program, args, { ...options, ...(onLine && { onLine: keep }) });
  if (code === 0) return { passed: 1, failed: 0 };
  return { passed: 0, failed: 1, failures: lines.length === 0 ? [] : [[title, ...lines].join('\n')] };
}
