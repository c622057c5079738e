/** A group of pure modules, with the unit tests beside them. `threshold` is the lowest score in per cent. */
function pure(name, folder, files) {
  const paths = files.map((file) => `${folder}/${file}`);
  return {
    name,
    threshold: 80,
    mutate: paths.map((path) => `${path}.ts`),
    tests: paths.map((path) => `${path}.test.ts`),
  };
}

/** A group of stores and services of the control plane, with the integration tests that use them. */
function stores(name, files, tests) {
  return {
    name,
    threshold: 65,
    database: true,
    mutate: files.map((file) => `${CONTROL_PLANE}/src/${file}.ts`),
    tests: tests.map((test) => `${CONTROL_PLANE}/tests/${test}.test.ts`),
  };
}

const CONTROL_PLANE = 'services/control-plane';

/** What `pnpm test:mutations` changes, and the tests that should notice. Wiring and generated files are in no group. */
export const GROUPS = [
  pure('background-rules', `${CONTROL_PLANE}/src`, [
    'background/due-loop',
    'background/lease-grace',
    'engine-events/retry-while-unavailable',
    'upload-tickets/stale-uploads',
  ]),
  pure('http', `${CONTROL_PLANE}/src`, [
    'http/field-errors',
    'http/json-depth',
    'http/pagination',
    'idempotency/idempotency-key',
    'api-keys/request-coalescing',
  ]),
  pure('playback-rules', `${CONTROL_PLANE}/src/playback`, [
    'bandwidth',
    'master-playlist',
    'media-playlist',
    'playback-token',
    'storyboard',
  ]),
  pure('rate-limits', `${CONTROL_PLANE}/src/rate-limits`, [
    'client-network',
    'failure-limit',
    'window-counter',
  ]),
  pure('usage-rules', `${CONTROL_PLANE}/src/usage`, ['usage-period']),
  pure('videos-rules', `${CONTROL_PLANE}/src/videos`, [
    'aspect-ratio',
    'orphaned-objects',
    'video-moves',
    'video-patch',
  ]),
  pure('webhooks-rules', `${CONTROL_PLANE}/src/webhooks`, [
    'delivery-policy',
    'endpoint-addresses',
    'endpoint-guard',
    'endpoint-secret',
  ]),
  pure('contracts', 'packages/contracts/src', ['sealing']),
  pure('service-kit', 'packages/service-kit/src', [
    'for-each-settled',
    'health',
    'metrics',
    'middleware',
    'redact',
    'settings',
    'terminal-text',
  ]),
  stores('api-keys', ['api-keys/api-keys.{service,store}', 'api-keys/last-use'], ['api-keys', 'revocation']),
  stores('attempts', ['attempts/*'], ['attempts', 'background', 'lease-grace', 'metrics', 'video-retry']),
  stores('background', ['background/maintenance*'], ['background']),
  stores('deliveries', ['webhooks/deliveries.*', 'webhooks/events.service'], ['webhook-deliveries']),
  stores('idempotency', ['idempotency/idempot{ency.service,ency-keys.store,ent}'], ['idempotency']),
  stores('playback', ['playback/playback{,-access}.{service,store}'], ['playback', 'playback-access']),
  stores(
    'upload-tickets',
    ['upload-tickets/*.{service,store}'],
    ['upload-tickets', 'lease-grace', 'metrics', 'test-videos', 'idempotency'],
  ),
  stores('usage', ['usage/{usage.service,usage.store,bandwidth-meter}'], ['usage']),
  stores(
    'videos',
    ['videos/{videos,object-purges}.{service,store}', 'videos/video-{lifecycle,record}'],
    ['videos', 'video-changes', 'video-retry', 'test-videos', 'attempts', 'background'],
  ),
  stores(
    'webhooks',
    ['webhooks/endpoints.{service,store}', 'webhooks/webhook-record', 'db/keyset-page'],
    ['webhooks'],
  ),
  stores('workspaces', ['workspaces/*'], ['workspaces']),
];
