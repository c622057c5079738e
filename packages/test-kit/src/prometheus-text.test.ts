import { expect, test } from '@jest/globals';
import { PrometheusText } from './prometheus-text.ts';

const HEAD = '# HELP framelane_cups_total Cups\n# TYPE framelane_cups_total counter\n';
const HISTOGRAM = '# HELP tea_seconds Time\n# TYPE tea_seconds histogram\n';

test('parses valid text', () => {
  const text = `${HEAD}framelane_cups_total{kind="a \\"b\\" c"} 3\nframelane_cups_total{kind="d"} NaN\n\n${HISTOGRAM}tea_seconds_bucket{le="1"} 1\ntea_seconds_bucket{le="+Inf"} 2\ntea_seconds_sum 7.5\ntea_seconds_count 2\n`;
  expect(PrometheusText.parse(text).withPrefix('')).toEqual({
    'framelane_cups_total{kind="a \\"b\\" c"}': 3,
    'framelane_cups_total{kind="d"}': Number.NaN,
    'tea_seconds_bucket{le="+Inf"}': 2,
    'tea_seconds_bucket{le="1"}': 1,
    tea_seconds_count: 2,
    tea_seconds_sum: 7.5,
  });
});

test.each([
  ['no newline at the end', `${HEAD}framelane_cups_total 3`],
  ['a sample without HELP and TYPE', 'cups 3\n'],
  ['a sample of another family', `${HEAD}framelane_pots_total 3\n`],
  ['no value', `${HEAD}framelane_cups_total\n`],
  ['a value that is not a number', `${HEAD}framelane_cups_total three\n`],
  ['a label without quotes', `${HEAD}framelane_cups_total{kind=a} 3\n`],
  ['an unescaped quote in a label', `${HEAD}framelane_cups_total{kind="a"b"} 3\n`],
  ['a series twice', `${HEAD}framelane_cups_total 3\nframelane_cups_total 4\n`],
  ['a family that is not contiguous', `${HEAD}${HISTOGRAM}${HEAD}`],
  ['an unknown type', '# HELP cups Cups\n# TYPE cups counters\n'],
  ['a type twice', `${HISTOGRAM}# TYPE tea_seconds histogram\n`],
  ['a type after a sample', `${HEAD}framelane_cups_total 3\n# TYPE framelane_cups_total counter\n`],
  ['a counter without _total', '# HELP framelane_cups Cups\n# TYPE framelane_cups counter\n'],
  [
    'buckets that are not cumulative',
    `${HISTOGRAM}tea_seconds_bucket{le="1"} 2\ntea_seconds_bucket{le="+Inf"} 1\ntea_seconds_count 1\n`,
  ],
  ['buckets without a count', `${HISTOGRAM}tea_seconds_bucket{le="+Inf"} 1\ntea_seconds_sum 1\n`],
  ['a count without buckets', `${HISTOGRAM}tea_seconds_sum 1\ntea_seconds_count 1\n`],
  ['a histogram without a last bucket', `${HISTOGRAM}tea_seconds_bucket{le="1"} 1\ntea_seconds_count 1\n`],
  [
    'a count that differs from the last bucket',
    `${HISTOGRAM}tea_seconds_bucket{le="+Inf"} 2\ntea_seconds_count 1\n`,
  ],
])('rejects %s', (_, text) => {
  expect(() => PrometheusText.parse(text)).toThrow();
});
