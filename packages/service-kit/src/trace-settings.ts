import { z } from 'zod';
import { readSettings, setting } from './settings.ts';

/** Values of OTEL_TRACES_SAMPLER, as OpenTelemetry names them. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

const ratio = () =>
  z
    .string()
    .regex(/^(0?\.\d{1,9}|0|1(\.0{1,9})?)$/, 'must be a number from 0 to 1')
    .transform(Number);

/** Names and values are those of OpenTelemetry. */
const settings = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: setting
    .httpUrl()
    .refine(
      (url) => !/[?#]/.test(url),
      'must have no query and no fragment, because /v1/traces is appended to its path',
    ),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(['http/protobuf'], 'must be http/protobuf').optional(),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, `must be one of ${SAMPLERS.join(', ')}`)
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: ratio().default(1),
  // OpenTelemetry reads these itself.
  OTEL_EXPORTER_OTLP_HEADERS: setting.text().optional(),
  OTEL_RESOURCE_ATTRIBUTES: setting.text().optional(),
});

/** The names of the settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(settings.shape);

/** The settings of the traces. */
export type TraceSettings = {
  /** Where spans are sent, in protobuf. */
  url: string;
  sampler: SamplerName;
  /** The part of the traces that the samplers with a ratio export: 0 to 1. */
  ratio: number;
};

/** Reads the settings of the traces; undefined if none are exported. Throws a SettingsError. */
export function readTraceSettings(env: NodeJS.ProcessEnv): TraceSettings | undefined {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined;
  const values = readSettings(settings, env);
  return {
    // A path is the base of those of all signals (OpenTelemetry Protocol Exporter, "Endpoint URLs for OTLP/HTTP").
    url: `${values.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}
