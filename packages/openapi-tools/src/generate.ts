import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addCurlSamples } from './curl-samples.ts';
import { CONTRACT } from './document.ts';

/**
 * Generates the contract's bundle, with curl lines for its examples, and its types. `node generate.ts` writes them to
 * openapi/dist. `node generate.ts --check` fails when the committed files differ.
 */

const tools = join(import.meta.dirname, '..');
const dist = join(CONTRACT, 'dist');
const GENERATED = ['openapi.json', 'types.ts'] as const;

function generateInto(directory: string): void {
  const bundle = join(directory, 'openapi.json');
  run('redocly', ['bundle', join(CONTRACT, 'openapi.yaml'), '--output', bundle]);
  const document = JSON.parse(readFileSync(bundle, 'utf8'));
  addCurlSamples(document);
  writeFileSync(bundle, `${JSON.stringify(document, null, 2)}\n`);
  // A client may omit a property that has a default.
  const types = ['--default-non-nullable=false', '--output', join(directory, 'types.ts')];
  run('openapi-typescript', [bundle, ...types]);
}

/** Runs a tool of this package; its output is shown only when it fails. */
function run(tool: string, args: string[]): void {
  execFileSync(join(tools, 'node_modules/.bin', tool), args, {
    cwd: tools,
    stdio: 'pipe',
    env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
}

/** Names of the generated files whose committed copy differs. */
function driftedFiles(): string[] {
  const fresh = mkdtempSync(join(tmpdir(), 'framelane-openapi-'));
  try {
    generateInto(fresh);
    return GENERATED.filter((name) => read(join(fresh, name)) !== read(join(dist, name)));
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

if (process.argv.includes('--check')) {
  const drifted = driftedFiles();
  if (drifted.length > 0) {
    process.stderr.write(
      `Not up to date: ${drifted.map((name) => `openapi/dist/${name}`).join(', ')}\n` +
        'Run "pnpm --filter @framelane/openapi generate" and commit the result.\n',
    );
    process.exitCode = 1;
  }
} else {
  generateInto(dist);
}
