const OF_THE_OPERATOR = 'Only a setting of the operator, or the address in the own browser of a visitor.';
const OWN_DOCUMENT = 'Only the API description and the routes of the project.';

/** Formats of the contract. `ajv-formats` also has expressions for others, which never run. */
export const FORMATS = ['binary', 'date', 'date-time', 'int64', 'uri'];

/**
 * Expressions that take more than linear time, or that recheck suspects, with the reason why this does no harm. `source` is the beginning of
 * the name of the file.
 */
export const EXCEPTIONS = [
  { source: 'packages/service-kit/src/settings.ts', pattern: '\\/+$', reason: OF_THE_OPERATOR },
  {
    source: 'services/control-plane/src/admin/run-control-plane-admin.ts',
    pattern: '\\/+$',
    reason: OF_THE_OPERATOR,
  },
  { source: 'express-openapi-validator/dist/framework/', reason: OWN_DOCUMENT },
  { source: 'router/lib/layer.js', reason: OWN_DOCUMENT },
  {
    source: 'ajv-formats/dist/formats.js',
    reason:
      'Only those of FORMATS run. A text for `uri` has up to 2048 characters, which take less than a millisecond.',
  },
  {
    source: 'ipaddr.js/lib/ipaddr.js',
    pattern: '%.+$',
    reason: 'Slow only with a line break, which neither a header nor the name of a host can contain.',
  },
  {
    source: 'oauth4webapi/build/index.js',
    pattern: '^\\s+(.*)$',
    reason: 'A header of the OpenID Connect provider that the operator has chosen, of up to 16 kB.',
  },
];

/** Whether there is an exception for an expression. */
export function isException({ source, pattern }, exceptions = EXCEPTIONS) {
  return exceptions.some(
    (exception) =>
      source.startsWith(exception.source) &&
      (exception.pattern === undefined || exception.pattern === pattern),
  );
}
