import type { ServiceProcess } from './service-process.ts';

/** What services said of an event, one service after another, each in order. */
export function logged(services: readonly ServiceProcess[], event: string): Record<string, unknown>[] {
  const lines = services.flatMap(({ output }) => output.join('').split('\n'));
  const told = lines.filter((line) => line.includes(`"message":"${event}"`));
  return told.flatMap(parsed);
}

/** A line that a killed process did not finish tells nothing. */
function parsed(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
