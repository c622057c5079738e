/**
 * A group of modules with unit tests beside them; most are pure. `threshold` is the lowest score in per cent.
 *
 * @param untested - Modules without tests of their own: those of the other modules test them
 */
function pure(name, folder, files, untested = []) {
  return {
    name,
    threshold: 80,
    mutate: [...files, ...untested].map((file) => `${folder}/${file}.ts`),
    tests: files.map((file) => `${folder}/${file}.test.ts`),
  };
}

/** A group of services, with the integration tests that use them. */
function services(name, workspace, files, tests) {
  return {
    name,
    threshold: 65,
    mutate: files.map((file) => `${workspace}/src/${file}.ts`),
    tests: tests.map((test) => `${workspace}/tests/${test}.test.ts`),
  };
}

/** A group of stores and services of the control plane. Their tests need a database. */
function stores(name, files, tests) {
  return { ...services(name, CONTROL_PLANE, files, tests), database: true };
}

/** A group of modules of the control plane. Their unit tests cover a part, and integration tests the rest. */
function partlyTested(name, files, tests) {
  const group = stores(name, files, tests);
  return {
    ...group,
    tests: [...group.mutate.map((file) => file.replace('.ts', '.test.ts')), ...group.tests],
  };
}

const CONTROL_PLANE = 'services/control-plane';
const ENGINE = 'services/engine';

/** The files that `pnpm test:mutations` changes, and the tests that should notice. No group contains wiring or generated files. */
export const GROUPS = [
  pure('background-rules', `${CONTROL_PLANE}/src`, [
    'background/due-loop',
    'background/missing-commands',
    'background/lease-grace',
    'engine-events/retry-while-unavailable',
    'upload-tickets/stale-uploads',
  ]),
  pure('http', `${CONTROL_PLANE}/src`, [
    'db/database-unavailable',
    'http/constant-file',
    'http/entity-tags',
    'http/field-errors',
    'http/json-depth',
    'http/pagination',
    'http/problems',
    'http/request-validation',
    'http/unknown-fields',
    'http/unstorable-text',
    'idempotency/idempotency-key',
    'auth/request-coalescing',
    'auth/rights',
  ]),
  pure('artifacts-rules', `${CONTROL_PLANE}/src`, [
    'artifacts/artifact-prefix',
    'tasks/artifacts-of-results',
  ]),
  pure('openid-rules', `${CONTROL_PLANE}/src`, ['openid/{openid-settings,identity}', 'console-people/email']),
  pure('playback-rules', `${CONTROL_PLANE}/src/playback`, [
    'bandwidth',
    'master-playlist',
    'media-playlist',
    'captions-playlist',
    'planned-renditions',
    'playback-token',
    'playlist-cache',
    'preview-variants',
    'storyboard',
  ]),
  pure('posters-rules', `${CONTROL_PLANE}/src/posters`, ['poster-image', 'jpeg-metadata']),
  pure('stored-reads', `${CONTROL_PLANE}/src/stored-files`, ['allotment', 'requested-range', 'stored-reads']),
  pure('quotas-rules', `${CONTROL_PLANE}/src/quotas`, ['quotas']),
  pure('rate-limits', `${CONTROL_PLANE}/src/rate-limits`, [
    'client-network',
    'failure-limit',
    'request-limit',
    'token-guess-limit',
    'window-counter',
  ]),
  pure('upload-tickets-rules', `${CONTROL_PLANE}/src/upload-tickets`, ['ticket-checks']),
  pure('usage-rules', `${CONTROL_PLANE}/src/usage`, ['usage-period']),
  pure('videos-rules', `${CONTROL_PLANE}/src/videos`, [
    'aspect-ratio',
    'attachment',
    'keep-source',
    'orphaned-objects',
    'searched-texts',
    'timeline',
    'video-moves',
    'video-patch',
    'video-record',
  ]),
  pure('webhooks-rules', `${CONTROL_PLANE}/src/webhooks`, ['delivery-policy', 'endpoint-secret']),
  {
    name: 'webhooks-sender',
    threshold: 65,
    mutate: [`${CONTROL_PLANE}/src/webhooks/delivery-sender.ts`],
    tests: [
      `${CONTROL_PLANE}/src/webhooks/delivery-sender.test.ts`,
      `${CONTROL_PLANE}/tests/delivery-sender.test.ts`,
    ],
  },
  pure('engine-config', `${ENGINE}/src`, ['config']),
  pure('engine-sandbox', `${ENGINE}/src/sandbox`, ['running-limit']),
  pure('engine-ffmpeg', `${ENGINE}/src/ffmpeg`, [
    'arguments',
    'encoder-options',
    'errors',
    'filter-graph',
    'progress',
    'task-arguments',
    'version',
  ]),
  pure('engine-output', `${ENGINE}/src/output`, ['segment-encryption', 'storage-retries']),
  {
    name: 'engine-encoders',
    threshold: 80,
    // All codecs.
    mutate: [`${ENGINE}/src/encoders/*/!(*.test).ts`],
    tests: [
      `${ENGINE}/src/encoders/*/*.test.ts`,
      `${ENGINE}/src/packagers/mpeg-ts/*.test.ts`,
      `${ENGINE}/src/ffmpeg/encoder-options.test.ts`,
      `${ENGINE}/src/plan/stream-copy.test.ts`,
    ],
  },
  pure('engine-packagers', `${ENGINE}/src/packagers/mpeg-ts`, ['continuity', 'transport-stream']),
  pure(
    'engine-plan',
    `${ENGINE}/src/plan`,
    [
      'audio-plan',
      'colour',
      'encode-plan',
      'frame-rate',
      'images',
      'input-issues',
      'ladder',
      'last-index',
      'stream-copy',
      'piece-bytes',
      'tasks',
    ],
    ['key-frames'],
  ),
  pure('engine-source', `${ENGINE}/src/source`, [
    'audio-scan',
    'byte-ranges',
    'containers',
    'edit-lists',
    'frame-losses',
    'frame-pairing',
    'frame-rate',
    'gop-scan',
    'key-frame-scan',
    'media-layout',
    'media-source',
    'orientation',
    'packet-budget',
    'packet-runs',
    'packet-timeline',
    'parameter-sets',
    'probe',
    'source-checks',
    'stream-clock',
    'track-arrivals',
    'track-end',
  ]),
  // A group of its own, because each change of its lists needs all tests of the group.
  pure('engine-whitelist', `${ENGINE}/src/source`, ['whitelist']),
  pure('engine-transcode', `${ENGINE}/src/transcode`, [
    'work-lease',
    'source-cache',
    'command-intake',
    'disk-reservations',
    'edited-cues',
    'failure-report',
    'next-plan',
    'results',
    'work-directory',
  ]),
  {
    name: 'engine-text-tracks',
    threshold: 65,
    mutate: [`${ENGINE}/src/transcode/text-tracks.ts`],
    tests: [`${ENGINE}/src/transcode/text-tracks.test.ts`, `${ENGINE}/tests/source/text-tracks.test.ts`],
  },
  pure('engine-uploads', `${ENGINE}/src`, [
    'resumable-uploads/tus-headers',
    'uploads/slow-holder',
    'uploads/storage-headroom',
    'uploads/throughput-limit',
    'uploads/upload-problems',
    'uploads/upload-slots',
  ]),
  services('engine-segments', ENGINE, ['output/{image,segment}-uploads'], ['output/segment-uploads']),
  {
    name: 'engine-transfers',
    threshold: 65,
    mutate: [`${ENGINE}/src/uploads/{lease,multer-storage,multipart,registration,transfer,uploads}.ts`],
    tests: [
      `${ENGINE}/src/uploads/multer-storage.test.ts`,
      `${ENGINE}/tests/{upload,upload-faults,metrics,engine-lifecycle}.test.ts`,
    ],
  },
  services(
    'engine-resumable-uploads',
    ENGINE,
    ['resumable-uploads/{resumable-uploads,upload-session}'],
    ['resumable-uploads', 'resumable-upload-faults', 'engine-lifecycle', 'metrics'],
  ),
  services(
    'engine-worker',
    ENGINE,
    [
      'transcode/command-handler',
      'transcode/{plan,planning,task,whole}-job',
      'transcode/{job-source,stored-run,transcode-worker}',
      'output/{i-frame-uploads,manifest,segment-info}',
      'packagers/{segment-files,mpeg-ts/segment}',
    ],
    ['engine-lifecycle', 'metrics', 'transcode/{tasks,transcode-worker}'],
  ),
  pure('captions', 'packages/captions/src', ['read-captions', 'cue-text'], ['cue-settings', 'write-webvtt']),
  pure('console', 'services/console/src', [
    'api/live',
    'api/problem',
    'api/scope',
    'keys/expiry',
    'sign-in/sign-in-code',
    'sign-in/sign-in-failure',
    'system/system-words',
    'ui/format',
    'ui/match-key',
    'uploads/import-request',
    'uploads/stored-uploads',
    'uploads/progress-words',
    'uploads/upload-items',
    'usage/figures',
    'videos/bulk',
    'videos/captions-errors',
    'videos/captions-file',
    'videos/edit-form',
    'videos/list-address',
    'videos/master-playlist',
    'videos/share-text',
    'videos/timeline-words',
    'videos/token-renewal',
    'videos/video-words',
    'webhooks/webhook-patch',
    'webhooks/webhook-words',
  ]),
  pure('player', 'services/player/src', ['keys', 'options', 'player-js', 'state']),
  pure('address-guard', 'packages/address-guard/src', ['address-guard', 'address-ranges']),
  pure('engine-import-rules', `${ENGINE}/src/imports`, ['remote-response'], ['import-failure']),
  services(
    'engine-imports',
    ENGINE,
    ['imports/{imports,import-job,remote-file,remote-connection}'],
    ['imports', 'import-registration'],
  ),
  pure('contracts', 'packages/contracts/src', ['joined-manifest', 'languages', 'renditions', 'sealing']),
  {
    name: 'client',
    threshold: 80,
    mutate: ['packages/client/src/{retries,verify-webhook,wait-until-ready}.ts'],
    tests: ['packages/client/src/*.test.ts', 'packages/client/tests/{client,resources}.test.ts'],
  },
  pure('service-kit', 'packages/service-kit/src', [
    'for-each-settled',
    'health',
    'redact',
    'settings',
    'terminal-text',
  ]),
  services('message-bus', 'packages/message-bus', ['in-process-bus'], ['in-process-bus']),
  services(
    'object-store',
    'packages/object-store',
    ['{file-object-store,in-folder,write-new-file}'],
    ['file-object-store'],
  ),
  stores('api-keys', ['api-keys/api-keys.{service,store}', 'auth/last-use'], ['api-keys', 'revocation']),
  stores('artifacts', ['artifacts/artifacts.{service,store}'], ['artifacts', 'artifacts-store']),
  stores('attempts', ['attempts/*'], ['attempts', 'attempts-store', 'tasks', 'metrics', 'video-retry']),
  partlyTested(
    'http-responses',
    ['http/contract', 'front-ends/front-end', 'stored-files/send-stored'],
    ['http', 'reference-page', 'console-page', 'embed', 'playback', 'segment-redirects', 'sources'],
  ),
  partlyTested('state-metrics', ['metrics/state-metrics'], ['metrics']),
  partlyTested(
    'authentication',
    ['auth/authentication'],
    ['authentication', 'console-sessions', 'rate-limits'],
  ),
  stores(
    'captions-store',
    ['captions/captions.{service,store}', 'playback/captions-playback.{service,store}'],
    ['captions', 'captions-store'],
  ),
  stores(
    'console-sessions',
    ['console-sessions/console-session{s.service,s.store,-record}', 'auth/session-cookie'],
    ['console-sessions'],
  ),
  stores(
    'openid',
    [
      'openid/{limited-fetch,openid-provider,openid-sign-in.service,pending-sign-in,pending-sign-in-cookie,sign-in-failure}',
      'console-people/console-people.{service,store}',
    ],
    ['openid', 'console-people-store'],
  ),
  stores('embed', ['embed/embed.service'], ['embed', 'previews']),
  stores('imports', ['imports/imports.{service,store}', 'imports/import-request'], ['imports', 'metrics']),
  stores('background', ['background/maintenance*'], ['background', 'due-rows']),
  stores(
    'deliveries',
    ['webhooks/deliveries.*', 'webhooks/events.service'],
    ['webhook-deliveries', 'webhook-deliveries-store', 'metrics'],
  ),
  stores(
    'idempotency',
    ['idempotency/idempot{ency.service,ency-keys.store,ent}'],
    ['idempotency', 'idempotency-keys'],
  ),
  stores(
    'playback',
    ['playback/playback{.service,.store,-access.service}'],
    ['playback', 'playback-access', 'images', 'segment-redirects'],
  ),
  stores('posters', ['posters/posters.{service,store}'], ['images']),
  stores(
    'previews',
    ['playback/previews.{service,store}'],
    ['previews', 'previews-store', 'segment-redirects'],
  ),
  stores('quotas', ['quotas/quotas.{service,store}'], ['quotas', 'admin']),
  stores('sealed-values', ['sealed-values/{resealing.service,sealed-values.store}'], ['secret-rotation']),
  stores('system', ['system/system.{service,store}', 'engines/engines.{service,store}'], ['system']),
  stores(
    'tasks',
    ['tasks/{tasks,commands}.{service,store}'],
    ['tasks', 'tasks-store', 'attempts', 'fair-claims', 'background', 'lease-grace', 'metrics'],
  ),
  stores(
    'upload-tickets',
    ['upload-tickets/*.{service,store}'],
    [
      'upload-tickets',
      'upload-tickets-store',
      'resumable-uploads',
      'lease-grace',
      'metrics',
      'test-videos',
      'idempotency',
    ],
  ),
  stores('usage', ['usage/{usage.service,usage.store,bandwidth-meter}'], ['usage']),
  stores(
    'videos',
    [
      'videos/{videos,object-purges,sources}.{service,store}',
      'videos/video-{columns.store,lifecycle,lifecycle.store}',
    ],
    [
      'videos',
      'videos-store',
      'video-lifecycle',
      'video-lifecycle-store',
      'sources',
      'sources-store',
      'object-purges',
      'due-rows',
      'video-changes',
      'video-retry',
      'test-videos',
      'attempts',
      'background',
    ],
  ),
  stores(
    'webhooks',
    ['webhooks/endpoints.{service,store}', 'webhooks/webhook-record', 'db/keyset-page'],
    ['webhooks', 'webhook-endpoints-store', 'webhook-deliveries', 'keyset-page'],
  ),
  stores('workspaces', ['workspaces/*'], ['workspaces']),
];
