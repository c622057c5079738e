import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `node infra/compose/make-env.js [file]`
 *
 * Writes the .env file for docker-compose.yml: .env.example with a random value for every secret. To an existing file it
 * adds the variables that are missing and the secrets that are empty. It needs Node 20 or later and no dependencies.
 */

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Generates the secrets, by variable. Passwords become parts of URLs, so they contain only letters and digits. */
const GENERATORS = {
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
  (line, name) => line + (GENERATORS[name]?.() ?? ''),
);
try {
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  console.log(`Created ${file}. Keep a copy: without CONTENT_KEY_SECRET no stored video can be played.`);
} catch (error) {
  if (error.code !== 'EEXIST') throw error;
  complete(file);
}

/**
 * Adds the variables that a file lacks. The file may be of an older version, or a copy of .env.example, whose secrets are empty. Existing
 * values may be in use and do not change. For a variable that occurs twice, compose uses the last value.
 */
function complete(file) {
  const present = readFileSync(file, 'utf8');
  const missing = text.match(/^\w+=.*$/gm).filter((line) => {
    const [name] = line.split('=');
    return !new RegExp(`^${name}=${name in GENERATORS ? '.' : ''}`, 'm').test(present);
  });
  if (missing.length === 0) {
    console.error(
      `${file} already exists and is complete. Its secrets are not replaced, because they may be in use.`,
    );
    process.exitCode = 1;
    return;
  }
  appendFileSync(file, `${present.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
  console.log(`Added to ${file}: ${missing.map((line) => line.split('=')[0]).join(', ')}. Keep a copy.`);
}

function password() {
  return randomBytes(24).toString('hex');
}
