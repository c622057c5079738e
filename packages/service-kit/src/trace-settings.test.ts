import { expect, test } from '@jest/globals';
import { readTraceSettings } from './trace-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

test('without an endpoint, no traces are exported', () => {
  expect(readTraceSettings({})).toBeUndefined();
  expect(readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER: 'none' })).toBeUndefined();
});

test('the endpoint is that of all signals', () => {
  expect(readTraceSettings(ENDPOINT)).toEqual({
    url: 'http://collector:4318/v1/traces',
    sampler: 'parentbased_always_on',
    ratio: 1,
  });
});

test.each(['http://collector/otlp', 'http://collector/otlp/'])(
  'the path of %s is that below which all signals are',
  (endpoint) => {
    const { url } = readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }) ?? {};
    expect(url).toBe('http://collector/otlp/v1/traces');
  },
);

test('the protocol can be named', () => {
  const protocol = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' };
  expect(readTraceSettings({ ...ENDPOINT, ...protocol })).toEqual(readTraceSettings(ENDPOINT));
});

test.each([
  ['0', 0],
  ['0.01', 0.01],
  ['.5', 0.5],
  ['1', 1],
  ['1.00', 1],
])('the ratio of a sampler can be %s', (text, ratio) => {
  const sampler = 'parentbased_traceidratio';
  const env = { ...ENDPOINT, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: text };
  expect(readTraceSettings(env)).toMatchObject({ sampler, ratio });
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', 'must be an http:// or https:// address'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/?token=a', 'must have no query and no fragment'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/#a', 'must have no query and no fragment'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'must be http/protobuf'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'must be one of always_on, always_off'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.01', 'must be a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', '10 %', 'must be a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', '.', 'must be a number from 0 to 1'],
])('%s=%s is refused', (name, value, message) => {
  expect(() => readTraceSettings({ ...ENDPOINT, [name]: value })).toThrow(`${name}: ${message}`);
});
