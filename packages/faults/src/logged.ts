import type { ServiceProcess } from './service-process.ts';

/** The log lines of an event, ordered by service and time. */
export function logged(services: readonly ServiceProcess[], event: string): Record<string, unknown>[] {
  const lines = services.flatMap(({ output }) => output.join('').split('\n'));
  return lines.filter((line) => line.includes(`"message":"${event}"`)).flatMap(parsed);
}

/** Whether one of the services has logged the event for the video. */
export function hasLogged(services: readonly ServiceProcess[], event: string, videoId: string): boolean {
  return logged(services, event).some((line) => line.videoId === videoId);
}

/** Skips a line that a killed process did not complete. */
function parsed(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
