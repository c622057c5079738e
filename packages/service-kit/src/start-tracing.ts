import type { Logger } from './logger.ts';
import type { StopPhase } from './shutdown.ts';
import { readTraceSettings } from './trace-settings.ts';
import { TRACES_STOP_MS, type Tracing } from './tracing.ts';

/**
 * Starts the traces of a service. Undefined unless OTEL_EXPORTER_OTLP_ENDPOINT is set; then nothing of OpenTelemetry is loaded. The stop
 * phase of the traces is put at the front of `toStop`, so start the traces first.
 */
export async function startTracing(
  service: string,
  { env, logger, toStop }: { env: NodeJS.ProcessEnv; logger: Logger; toStop: StopPhase[] },
): Promise<Tracing | undefined> {
  const settings = readTraceSettings(env);
  if (settings === undefined) return undefined;
  const { OtlpTracing } = await import('./otlp-tracing.ts');
  const tracing = new OtlpTracing(service, settings, logger);
  toStop.unshift({ name: `traces of ${service}`, limitMs: TRACES_STOP_MS, run: () => tracing.stop() });
  return tracing;
}
