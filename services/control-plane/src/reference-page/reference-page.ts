import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RequestHandler, Router } from 'express';
import { constantFile } from '../http/constant-file.ts';
import { taggedBody } from '../http/entity-tags.ts';
import { OWN_FILES_POLICY } from '../http/own-files-policy.ts';

const OWN_FILES = join(import.meta.dirname, 'browser');
const SWAGGER_UI = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

/** The files of the page with their directories. */
const FILES = {
  'swagger-ui.css': SWAGGER_UI,
  'page.css': OWN_FILES,
  'swagger-ui-bundle.js': SWAGGER_UI,
  'page.js': OWN_FILES,
};

/**
 * The API description as a page, rendered by Swagger UI in the browser. The path of its files contains a fingerprint of
 * their content, so browsers can cache them without limit.
 */
export function referencePage(baseUrl: string): { page: RequestHandler; files: Router } {
  const base = new URL(baseUrl).pathname;
  const version = fingerprint();
  const html = taggedBody(
    pageHtml({ description: `${base}/openapi.json`, files: `${base}/docs/${version}` }),
  );
  const files = Router();
  for (const [name, root] of Object.entries(FILES)) {
    files.get(`/${version}/${name}`, constantFile(join(root, name)));
  }
  const page: RequestHandler = (_req, res) => {
    html(res.set({ 'Content-Security-Policy': OWN_FILES_POLICY, 'Cache-Control': 'no-cache' }).type('html'));
  };
  return { page, files };
}

/** A hash of the files. */
function fingerprint(): string {
  const hash = createHash('sha256');
  for (const [name, root] of Object.entries(FILES)) hash.update(readFileSync(join(root, name)));
  return hash.digest('hex').slice(0, 16);
}

function pageHtml({ description, files }: { description: string; files: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Framelane API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files}/swagger-ui.css">
<link rel="stylesheet" href="${files}/page.css">
</head>
<body>
<nav id="contents" aria-label="Contents"></nav>
<main id="reference" data-description="${description}">
<noscript>This page needs JavaScript. The API description is at <a href="${description}">${description}</a>.</noscript>
</main>
<script src="${files}/swagger-ui-bundle.js"></script>
<script src="${files}/page.js"></script>
</body>
</html>
`;
}
