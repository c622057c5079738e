import type { ServiceProcess } from './service-process.ts';

/** The log lines of an event, ordered by service and time. */
export function logged(services: readonly ServiceProcess[], event: string): Record<string, unknown>[] {
  const lines = services.flatMap(({ output }) => output.join('').split('\n'));
  const told = lines.filter((line) => line.includes(`"message":"${event}"`));
  return told.flatMap(parsed);
}

/** Ignores a line that a killed process did not finish. */
function parsed(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
