import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes the .env that docker-compose.yml reads: .env.example with a random value for every secret in it. To one that is
 * there, it adds the variables that it lacks. Runs on any Node from 20 on, without dependencies. `node infra/compose/make-env.js [file]`
 */

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** What is made up, by variable. Passwords become parts of addresses, so they are made of letters and digits. */
const MADE_UP = {
  POSTGRES_PASSWORD: password,
  CONTROL_PLANE_DATABASE_PASSWORD: password,
  RABBITMQ_PASSWORD: password,
  RABBITMQ_CONTROL_PLANE_PASSWORD: password,
  RABBITMQ_ENGINE_PASSWORD: password,
  MINIO_ROOT_PASSWORD: password,
  S3_SECRET_ACCESS_KEY: password,
  ENGINE_S3_SECRET_ACCESS_KEY: password,
  GRAFANA_PASSWORD: password,
  SERVICE_SECRET: password,
  CONTENT_KEY_SECRET: () => randomBytes(32).toString('base64'),
};

const [file = join(ROOT, '.env')] = process.argv.slice(2);
const text = readFileSync(join(ROOT, '.env.example'), 'utf8').replace(
  /^([A-Z0-9_]+)=$/gm,
  (line, name) => line + (MADE_UP[name]?.() ?? ''),
);
try {
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  console.log(`Made ${file}. Keep a copy: without CONTENT_KEY_SECRET no stored video can be played.`);
} catch (error) {
  if (error.code !== 'EEXIST') throw error;
  complete(file);
}

/** Adds what a file lacks that was made by an older version. What stands in it may be in use, and stays. */
function complete(file) {
  const present = readFileSync(file, 'utf8');
  const lacking = text
    .match(/^\w+=.*$/gm)
    .filter((line) => !new RegExp(`^${line.split('=')[0]}=`, 'm').test(present));
  if (lacking.length === 0) {
    console.error(`${file} is there already, and its secrets may be in use. It stays as it is.`);
    process.exitCode = 1;
    return;
  }
  appendFileSync(file, `${present.endsWith('\n') ? '' : '\n'}${lacking.join('\n')}\n`);
  console.log(`Added to ${file}: ${lacking.map((line) => line.split('=')[0]).join(', ')}. Keep a copy.`);
}

function password() {
  return randomBytes(24).toString('hex');
}
