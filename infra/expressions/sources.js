import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { productionPackages } from '../licences/production-packages.js';
import { findExpressions } from './find-expressions.js';

const ROOT = join(import.meta.dirname, '..', '..');
const CONTRACT = 'openapi/dist/openapi.json';

/** Packages and front ends that only tests and the build use. They read what the project itself has written. */
const OWN_TEXT_ONLY = ['acceptance', 'faults', 'test-kit', 'web-build', 'openapi-tools', 'docs-site'];

/** npm packages that the services call with text of clients. zod is not one: it checks settings, and messages between the services. */
export const CALLED_WITH_CLIENT_TEXT = [
  // HTTP: paths, headers and bodies.
  ...[
    'accepts',
    'body-parser',
    'compression',
    'content-disposition',
    'content-type',
    'cookie',
    'cors',
    'encodeurl',
  ],
  ...[
    'escape-html',
    'etag',
    'express',
    'finalhandler',
    'forwarded',
    'fresh',
    'media-typer',
    'mime-types',
    'negotiator',
  ],
  ...[
    'parseurl',
    'path-to-regexp',
    'proxy-addr',
    'qs',
    'range-parser',
    'raw-body',
    'router',
    'send',
    'serve-static',
  ],
  ...['type-is', 'vary', 'ipaddr.js'],
  // Forms.
  ...['append-field', 'busboy', 'multer', 'streamsearch'],
  // Validation by the contract.
  ...['ajv-formats', 'express-openapi-validator'],
  // Captions, tokens, and what an OpenID Connect provider sends.
  ...['entities', 'jose', 'oauth4webapi', 'openid-client'],
];

/** All expressions to check, as `{ pattern, flags, source }`. */
export function expressionsToCheck() {
  return [...ofOwnCode(), ...ofContract(), ...ofPackages()];
}

function ofOwnCode() {
  return globSync('{packages,services}/*/src/**/*.{ts,tsx,js}', { cwd: ROOT })
    .filter((file) => !/\.test\.\w+$/.test(file) && !OWN_TEXT_ONLY.includes(file.split('/')[1]))
    .sort()
    .flatMap((file) => inFile(join(ROOT, file), file));
}

/** The validator compiles the patterns of the contract, and matches what clients send. */
function ofContract() {
  return valuesOf('pattern').map((pattern) => ({ pattern, flags: 'u', source: CONTRACT }));
}

/** The values of all members of the contract with this name. */
export function valuesOf(name) {
  const found = new Set();
  const search = (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (typeof value[name] === 'string') found.add(value[name]);
    Object.values(value).forEach(search);
  };
  search(JSON.parse(readFileSync(join(ROOT, CONTRACT), 'utf8')));
  return [...found];
}

function ofPackages() {
  return productionPackages()
    .filter(({ name }) => CALLED_WITH_CLIENT_TEXT.includes(name))
    .flatMap(({ name, folder }) =>
      globSync('**/*.{js,mjs,cjs}', { cwd: folder, exclude: (path) => path.includes('node_modules') })
        .filter((file) => !/(^|\/)(tests?|src|umd)\//.test(file) && !file.endsWith('.min.js'))
        .sort()
        .flatMap((file) => inFile(join(folder, file), `${name}/${file}`)),
    );
}

function inFile(path, source) {
  return findExpressions(path).map((expression) => ({ ...expression, source }));
}
