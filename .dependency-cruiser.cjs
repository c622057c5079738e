/**
 * Imports only go down:
 *   acceptance → client, hls-conformance, test-kit
 *   elements → client
 *   framelane → cli → client
 *   framelane → single-node → services → message-bus → service-kit → contracts
 *   services → object-store → contracts
 *   services → address-guard, captions (these two import no other package)
 *   control-plane, single-node → web-build (which reads the files of services/player, services/console and services/docs-site)
 *   docs-site → contracts, openapi-tools, web-build
 *   console → client
 * within the engine: transcode → hardware and outputs → ffmpeg → packagers → plan → encoders → source → sandbox; outputs → recognizers → sandbox;
 *   imports → uploads; resumable-uploads → uploads. None of these three imports a folder of the line above, and none of those imports them
 */
const layer = (name, from, mayNot) => ({
  name,
  severity: 'error',
  comment: 'Imports only go down; see docs/architecture.md.',
  // Tests may use more than the code that they test.
  from: { path: from, pathNot: '\\.test\\.ts$' },
  to: { path: mayNot },
});

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    layer('contracts-is-the-bottom', '^packages/contracts/', '^(services|packages/(?!contracts/))'),
    layer(
      'service-kit-knows-contracts',
      '^packages/service-kit/',
      '^(services|packages/(?!(contracts|service-kit)/))',
    ),
    layer(
      'ports-know-no-service',
      '^packages/(message-bus|object-store)/',
      '^(services|packages/(single-node|acceptance)/)',
    ),
    layer('ports-do-not-mix', '^packages/message-bus/', '^packages/object-store/'),
    layer(
      'object-store-knows-only-contracts',
      '^packages/object-store/',
      '^packages/(?!(object-store|contracts|test-kit)/)',
    ),
    {
      name: 'packages-import-each-other-by-name',
      severity: 'error',
      comment:
        'A package.json lists what its package uses, and tests are private: packages/test-kit has what several share. One test of the player imports a file by its path, because the player lists no package; so do targets of the fuzzing, because every export of the HLS checker is public.',
      from: {
        path: '^(services|packages)/([^/]+)/',
        pathNot: '^(services/player/src/state\\.test|packages/fuzzing/src/targets/hls-[^/]+)\\.ts$',
      },
      to: { path: '^(services|packages)/', pathNot: '^$1/$2/', dependencyTypes: ['local'] },
    },
    {
      name: 'infra-is-above',
      severity: 'error',
      comment: 'Scripts use services and packages, never the reverse.',
      from: { path: '^(services|packages)/' },
      to: { path: '^infra/' },
    },
    layer('services-know-no-host', '^services/', '^packages/(single-node|framelane|acceptance)/'),
    layer('nothing-imports-the-program', '^(services|packages/(?!framelane/))', '^packages/framelane/'),
    layer('player-stands-alone', '^services/player/', '^(services/(?!player/)|packages/)'),
    layer(
      'console-knows-the-client',
      '^services/console/',
      '^(services/(?!console/)|packages/(?!client/)|openapi/)',
    ),
    layer('only-the-build-reads-the-player', '^(services/(?!player/)|packages/)', '^services/player/'),
    layer('only-the-build-reads-the-console', '^(services/(?!console/)|packages/)', '^services/console/'),
    layer(
      'docs-site-knows-contract-and-build',
      '^services/docs-site/',
      '^(services/(?!docs-site/)|packages/(?!(contracts/src/problem-codes|openapi-tools/src/document|web-build/src/(front-ends|docs-placeholders))\\.ts$))',
    ),
    layer(
      'only-the-build-reads-the-docs-site',
      '^(services/(?!docs-site/)|packages/)',
      '^services/docs-site/',
    ),
    layer(
      'docs-site-pages-know-no-build',
      '^services/docs-site/browser/',
      '^(services/docs-site/(src/|pages\\.ts$)|packages/)',
    ),
    {
      name: 'console-pages-do-not-mix',
      severity: 'error',
      comment: 'What two pages share is in ui, api, sign-in, uploads or analytics.',
      from: { path: '^services/console/src/(videos|webhooks|keys|usage|sessions|system)/' },
      to: {
        path: '^services/console/src/((videos|webhooks|keys|usage|sessions|system)/|shell/|routes)',
        pathNot: '^services/console/src/$1/',
      },
    },
    layer(
      'console-parts-know-no-page',
      '^services/console/src/(analytics|api|sign-in|ui|uploads|shell)/',
      '^services/console/src/(videos|webhooks|keys|usage|sessions|system)/',
    ),
    layer(
      'console-sign-in-is-below-uploads',
      '^services/console/src/(api|sign-in|ui)/',
      '^services/console/src/(uploads|shell)/',
    ),
    layer('web-build-stands-alone', '^packages/web-build/', '^(services|packages/(?!(web-build|test-kit)/))'),
    layer('control-plane-knows-no-engine', '^services/control-plane/', '^services/engine/'),
    layer('engine-knows-no-control-plane', '^services/engine/', '^services/control-plane/'),
    layer('engine-knows-no-database', '^services/engine/', 'node_modules/(pg|kysely)/'),
    layer('control-plane-knows-no-ffmpeg', '^services/control-plane/', 'node_modules/fluent-ffmpeg/'),
    layer(
      'acceptance-is-black-box',
      '^packages/acceptance/',
      '^(services|packages/(?!(acceptance|client|hls-conformance|test-kit)/))',
    ),
    layer('test-kit-knows-no-service', '^packages/test-kit/', '^(services|packages/(?!test-kit/))'),
    layer(
      'only-tests-use-the-test-kit',
      '^(services/[^/]+|packages/(?!(acceptance|faults|fuzzing|simulation|test-kit)/)[^/]+)/src/',
      '^packages/test-kit/',
    ),
    layer(
      'hls-conformance-stands-alone',
      '^packages/hls-conformance/',
      '^(services|packages/(?!(hls-conformance|test-kit)/)|openapi/)',
    ),
    layer(
      'only-tests-check-streams',
      '^(services/[^/]+|packages/(?!(hls-conformance|acceptance|faults|fuzzing)/)[^/]+)/src/',
      '^packages/hls-conformance/',
    ),
    layer(
      'address-guard-stands-alone',
      '^packages/address-guard/',
      '^(services|packages/(?!address-guard/))',
    ),
    layer('captions-stand-alone', '^packages/captions/', '^(services|packages/(?!captions/))'),
    layer('openapi-tools-stand-alone', '^packages/openapi-tools/', '^(services|packages/(?!openapi-tools/))'),
    layer(
      'client-knows-the-contract',
      '^packages/client/',
      '^(services|packages/(?!client/)|openapi/(?!dist/types))',
    ),
    layer(
      'only-suites-the-console-the-elements-and-the-command-line-use-the-client',
      '^(services/(?!console/)|packages/(?!(acceptance|cli|elements|faults|client)/))',
      '^packages/client/',
    ),
    layer(
      'elements-know-the-client',
      '^packages/elements/',
      '^(services|packages/(?!(elements|client)/)|openapi/)',
    ),
    layer('nothing-imports-the-elements', '^(services|packages/(?!elements/))', '^packages/elements/'),
    {
      name: 'elements-run-in-browsers',
      severity: 'error',
      from: { path: '^packages/elements/src/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    layer('one-entry-uses-react', '^packages/elements/src/(?!react(/|\\.ts$))', 'node_modules/react/'),
    layer('cli-knows-the-client', '^packages/cli/', '^(services|packages/(?!(cli|client)/)|openapi/)'),
    layer(
      'client-runs-anywhere',
      '^packages/client/src/(?!node(/|\\.ts$))',
      '^packages/client/src/node(/|\\.ts$)',
    ),
    {
      name: 'client-runs-without-node',
      severity: 'error',
      comment: "Only what is exported as '@framelane/client/node' may use Node's modules.",
      from: { path: '^packages/client/src/(?!node(/|\\.ts$))' },
      to: { dependencyTypes: ['core'] },
    },
    layer(
      'one-file-uses-opentelemetry',
      '^(services/[^/]+|packages/(?!service-kit/src/otlp-tracing\\.ts$)[^/]+)/src/',
      'node_modules/@opentelemetry/',
    ),
    {
      name: 'opentelemetry-is-loaded-only-for-traces',
      severity: 'error',
      from: { path: '^(services|packages)/[^/]+/src/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '^packages/service-kit/src/otlp-tracing\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    layer(
      'one-file-runs-ffmpeg',
      '^services/engine/(?!src/ffmpeg/run-ffmpeg\\.ts$)',
      'node_modules/fluent-ffmpeg/',
    ),
    layer(
      'engine-source-knows-only-the-sandbox',
      '^services/engine/src/source/',
      '^services/engine/src/(encoders|plan|packagers|ffmpeg|outputs|hardware|transcode|uploads|metrics)/',
    ),
    layer(
      'engine-encoders-know-only-the-source',
      '^services/engine/src/encoders/',
      '^services/engine/src/(plan|packagers|ffmpeg|sandbox|outputs|hardware|transcode|uploads|metrics)/',
    ),
    layer(
      'engine-plan-knows-only-encoders-and-the-source',
      '^services/engine/src/plan/',
      '^services/engine/src/(packagers|ffmpeg|sandbox|outputs|hardware|transcode|uploads|metrics)/',
    ),
    layer(
      'engine-packagers-run-no-tool',
      '^services/engine/src/packagers/',
      '^services/engine/src/(ffmpeg|outputs|hardware|transcode|uploads|metrics)/',
    ),
    {
      name: 'engine-only-registries-know-codecs-and-packagings',
      severity: 'error',
      comment:
        'Other code gets an encoder from encoders/encoders.ts and a packager from packagers/packagers.ts; see docs/adr/0069-encoders-and-packagers.md.',
      from: {
        path: '^services/engine/src/',
        pathNot:
          '^services/engine/src/((encoders|packagers)/[^/]+/|encoders/encoders\\.ts$|packagers/packagers\\.ts$)|\\.test\\.ts$',
      },
      to: { path: '^services/engine/src/(encoders|packagers)/[^/]+/' },
    },
    {
      name: 'engine-codecs-and-packagings-do-not-mix',
      severity: 'error',
      comment:
        'A codec works with each packaging, and the reverse; see docs/adr/0069-encoders-and-packagers.md.',
      from: { path: '^services/engine/src/(encoders|packagers)/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '^services/engine/src/(encoders|packagers)/[^/]+/',
        pathNot: '^services/engine/src/$1/$2/',
      },
    },
    layer(
      'engine-sandbox-knows-no-media',
      '^services/engine/src/sandbox/',
      '^services/engine/src/(source|encoders|plan|packagers|ffmpeg|outputs|hardware|transcode|uploads|metrics)/',
    ),
    layer(
      'engine-ffmpeg-knows-no-output',
      '^services/engine/src/ffmpeg/',
      '^services/engine/src/(outputs|hardware|transcode|uploads)/',
    ),
    {
      name: 'engine-only-registries-know-output-kinds',
      severity: 'error',
      comment:
        'Other code gets kinds of outputs and tasks from outputs/outputs.ts. Renditions are what a video is: runs store their segments.',
      from: {
        path: '^services/engine/src/',
        pathNot: '^services/engine/src/outputs/([^/]+/|outputs\\.ts$)|\\.test\\.ts$',
      },
      to: {
        path: '^services/engine/src/outputs/[^/]+/',
        pathNot:
          '^services/engine/src/outputs/renditions/(describe-stored|segment-info|segment-uploads|clip/clip-renditions)\\.ts$',
      },
    },
    {
      name: 'engine-output-kinds-do-not-mix',
      severity: 'error',
      from: { path: '^services/engine/src/outputs/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^services/engine/src/outputs/[^/]+/', pathNot: '^services/engine/src/outputs/$1/' },
    },
    layer(
      'engine-recognizers-know-no-media',
      '^services/engine/src/recognizers/',
      '^services/engine/src/(source|encoders|plan|packagers|ffmpeg|outputs|hardware|transcode|uploads|metrics)/',
    ),
    layer(
      'engine-outputs-know-no-job',
      '^services/engine/src/outputs/',
      '^services/engine/src/(hardware|transcode|uploads)/',
    ),
    layer(
      'engine-hardware-knows-no-job',
      '^services/engine/src/hardware/',
      '^services/engine/src/(outputs|transcode|uploads|metrics)/',
    ),
    layer(
      'engine-transcode-knows-no-upload',
      '^services/engine/src/(source|encoders|plan|packagers|sandbox|ffmpeg|outputs|hardware|transcode)/',
      '^services/engine/src/(uploads|imports|resumable-uploads)/',
    ),
    layer(
      'engine-uploads-know-no-transcode',
      '^services/engine/src/(uploads|imports|resumable-uploads)/',
      '^services/engine/src/(source|encoders|plan|packagers|sandbox|ffmpeg|outputs|hardware|transcode)/',
    ),
    layer(
      'engine-uploads-are-below-imports',
      '^services/engine/src/uploads/',
      '^services/engine/src/(imports|resumable-uploads)/',
    ),
    layer(
      'engine-imports-know-no-resumable-upload',
      '^services/engine/src/imports/',
      '^services/engine/src/resumable-uploads/',
    ),
    layer(
      'engine-resumable-uploads-know-no-import',
      '^services/engine/src/resumable-uploads/',
      '^services/engine/src/imports/',
    ),
    layer('metrics-alone-know-prometheus', '^services/[^/]+/src/(?!metrics/)', 'node_modules/prom-client/'),
    layer(
      'plumbing-knows-no-domain',
      '^services/control-plane/src/(http|db)/',
      '^services/control-plane/src/(?!(http|db)/)',
    ),
    layer('db-knows-nothing-above', '^services/control-plane/src/db/', '^services/control-plane/src/(?!db/)'),
    layer('services-know-no-http', '\\.service\\.ts$', '(/src/http/|\\.routes\\.ts$|node_modules/express/)'),
    layer('stores-know-no-service', '\\.store\\.ts$', '(/src/http/|\\.(service|routes)\\.ts$)'),
    {
      name: 'only-stores-write-sql',
      severity: 'error',
      comment: 'Types of kysely may be imported anywhere.',
      from: { path: '^services/control-plane/src/(?!db/)', pathNot: '\\.store\\.ts$' },
      to: { path: 'node_modules/kysely/', dependencyTypesNot: ['type-only'] },
    },
    layer('routes-know-no-sql', '\\.routes\\.ts$', '(\\.store\\.ts$|node_modules/kysely/|/src/db/)'),
    {
      name: 'no-circles-between-control-plane-folders',
      severity: 'error',
      comment:
        'Types count as well. Files beside the folders connect them, so no folder imports such a file.',
      scope: 'folder',
      from: { path: '^services/control-plane/src/[^/]+$' },
      to: { path: '^services/control-plane/src', circular: true },
    },
    {
      name: 'stores-are-private-to-their-domain',
      severity: 'error',
      comment: "A domain may call another domain's service, never its store.",
      from: { path: '^services/control-plane/src/([^/]+)/' },
      to: {
        path: '^services/control-plane/src/([^/]+)/.*\\.store\\.ts$',
        pathNot: '^services/control-plane/src/$1/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^services/[^/]+/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.json'],
    },
  },
};
