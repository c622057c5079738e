/** Pages about one kind of task. */
export type Section = {
  title: string;
  /** Markdown files of the repository, in the order of the sidebar. */
  files: readonly string[];
};

/** The sections with pages that are not made from the files below; see `site-pages.ts`. */
export const UNDERSTAND = 'Understand';
export const REFERENCE = 'Reference';

/** The sidebar. */
export const SECTIONS: readonly Section[] = [
  { title: 'Start', files: ['README.md', 'packages/framelane/README.md', 'docs/console.md'] },
  {
    title: 'Build with it',
    files: [
      'docs/html-page.md',
      'docs/nextjs.md',
      'docs/phone-uploads.md',
      'docs/cms.md',
      'packages/elements/README.md',
      'packages/client/README.md',
      'docs/cli.md',
      'docs/mcp.md',
    ],
  },
  {
    title: 'Take videos in',
    files: [
      'docs/uploads.md',
      'docs/import.md',
      'docs/moving.md',
      'docs/inputs.md',
      'docs/sources.md',
      'docs/deletion.md',
    ],
  },
  {
    title: 'Show videos',
    files: [
      'docs/playback.md',
      'docs/embed.md',
      'docs/captions.md',
      'docs/chapters.md',
      'docs/pictures.md',
      'docs/downloads.md',
      'docs/clips.md',
      'docs/watermarks.md',
      'docs/hls.md',
    ],
  },
  {
    title: 'Use the API',
    files: [
      'docs/keys-and-permissions.md',
      'docs/webhooks.md',
      'docs/idempotency.md',
      'docs/requests.md',
      'docs/audit.md',
      'docs/usage.md',
      'docs/analytics.md',
      'docs/quotas.md',
      'docs/limits.md',
    ],
  },
  {
    title: 'Operate',
    files: [
      'docs/configuration.md',
      'docs/deployment.md',
      'infra/helm/README.md',
      'docs/backup.md',
      'docs/upgrade.md',
      'docs/capacity.md',
      'docs/monitoring.md',
      'docs/troubleshooting.md',
    ],
  },
  {
    title: UNDERSTAND,
    files: [
      'docs/architecture.md',
      'docs/reliability.md',
      'docs/media-safety.md',
      'docs/benchmarks.md',
      'packages/hls-conformance/README.md',
    ],
  },
  { title: REFERENCE, files: [] },
  {
    title: 'Change it',
    files: [
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'docs/licences.md',
      'docs/releasing.md',
      'docs/mutation-tests.md',
      'packages/acceptance/README.md',
    ],
  },
];

/** Names of pages whose file is not in `docs`. */
export const NAMES: Readonly<Record<string, string>> = {
  'README.md': 'index',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
  'SECURITY.md': 'security',
  'infra/helm/README.md': 'helm',
  'packages/acceptance/README.md': 'acceptance-tests',
  'packages/client/README.md': 'client',
  'packages/elements/README.md': 'elements',
  'packages/framelane/README.md': 'framelane',
  'packages/hls-conformance/README.md': 'hls-conformance',
};
