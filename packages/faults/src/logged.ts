import type { LogEvent } from './service-log.ts';
import type { ServiceProcess } from './service-process.ts';

/** The events of that name that services have logged, ordered by service and time. */
export function logged(services: readonly ServiceProcess[], event: string): LogEvent[] {
  return services.flatMap(({ log }) => log.events(event));
}

/** Whether one of the services has logged the event for the video. */
export function hasLogged(services: readonly ServiceProcess[], event: string, videoId: string): boolean {
  return logged(services, event).some((line) => line.videoId === videoId);
}
