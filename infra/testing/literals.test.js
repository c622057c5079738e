import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';
import { ROOT } from '../bootstrap/project.js';

/** What may decide something in few places only (see docs/adr/0069-encoders-and-packagers.md): the texts, and the files that may have them. */
const RULES = {
  'a rung': {
    texts: /^\d{3,4}p\b/,
    allowed: /^(packages\/contracts\/src\/renditions|services\/engine\/src\/plan\/ladder)\.ts$/,
  },
  'a codec': {
    texts: /h\.?26[45]|x26[45]|avc1|hevc|hvc1|\bav0?1\b|mpeg2video|\bvp[89]\b|^aac$|mp4a/i,
    // Codecs of sources stay in source/.
    allowed: /^(packages\/contracts\/src\/renditions\.ts$|services\/engine\/src\/(source|encoders)\/)/,
  },
  'a packaging': {
    texts: /\.(ts|m4s)\$?$|mpeg-?ts|mp2t|fmp4|\binit\.mp4$/,
    allowed: /^(packages\/contracts\/src\/packaging\.ts$|services\/engine\/src\/(source|packagers)\/)/,
  },
};

const files = globSync('{services/{engine,control-plane},packages/{contracts,object-store}}/src/**/*.ts', {
  cwd: ROOT,
}).filter((path) => !path.endsWith('.test.ts'));

test.each(Object.entries(RULES))('no text names %s outside of its folders', (_, { texts, allowed }) => {
  const found = files
    .filter((path) => !allowed.test(path))
    .flatMap((path) => textsIn(readFileSync(join(ROOT, path), 'utf8')).map((text) => [path, text]))
    .filter(([, text]) => texts.test(text));
  expect(files.length).toBeGreaterThan(200);
  expect(found).toEqual([]);
});

test.each([
  ["const a = name === '1080p';", 'a rung'],
  ["const a = { '720p': 1 };", 'a rung'],
  ["const a = track.codec === 'h264';", 'a codec'],
  ['const a = ["-c", "libx264"];', 'a codec'],
  ["const a = path.endsWith('.ts');", 'a packaging'],
  ['const a = `0.ts`;', 'a packaging'],
  ['const a = `0.m4s`;', 'a packaging'],
  ["const a = 'init.mp4';", 'a packaging'],
  ['const a = /-0\\.ts$/;', 'a packaging'],
  ["const a = 'video/mp2t';", 'a packaging'],
])('in %s, a text names %s', (code, what) => {
  expect(textsIn(code).some((text) => RULES[what].texts.test(text))).toBe(true);
});

test.each([
  "import { a } from './a.ts';",
  "export { a } from './a.ts';",
  "const url = new URL('./a.ts', base);",
  '// .ts',
])('in %s, no text names a packaging', (code) => {
  expect(textsIn(code).some((text) => RULES['a packaging'].texts.test(text))).toBe(false);
});

/** The texts of the code: literals, also as names of properties, parts of templates and regular expressions; without paths of modules. */
function textsIn(code) {
  const found = [];
  visit(parseSync(code, { syntax: 'typescript', target: 'es2024' }), (node) => {
    if (node.type === 'StringLiteral') found.push(node.value);
    if (node.type === 'TemplateElement') found.push(node.cooked);
    if (node.type === 'RegExpLiteral') found.push(node.pattern);
  });
  return found.filter((text) => !/^\.{0,2}\/|\bnode .*\.ts$/.test(text));
}

function visit(node, onNode) {
  if (typeof node !== 'object' || node === null) return;
  if (/^(Import|Export.*)Declaration$/.test(node.type) && node.source) return;
  if (node.type === 'TsImportType') return;
  if (typeof node.type === 'string') onNode(node);
  for (const child of Object.values(node)) visit(child, onNode);
}
