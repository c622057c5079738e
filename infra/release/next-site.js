import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../bootstrap/project.js';

/** What a site needs besides the files of the guide. */
const LAYOUT = `export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
`;

/** Nothing is called while Next.js builds. */
const SETTINGS = `FRAMELANE_BASE_URL=http://localhost:8080/v1
FRAMELANE_API_KEY=svc_live_none
FRAMELANE_WORKSPACE_ID=ws_none
FRAMELANE_WEBHOOK_SECRET=whsec_none
`;

/** Writes the site of docs/nextjs.md to a folder: its files are blocks after a paragraph that ends with their path. */
export function writeNextSite(folder) {
  const guide = readFileSync(join(ROOT, 'docs/nextjs.md'), 'utf8');
  const files = [...guide.matchAll(/`([\w./[\]-]+\.jsx?)`[^`]*:\n\n```\w+\n([\s\S]*?)```/g)];
  const all = [
    ...files.map(([, path, code]) => [path, code]),
    ['app/layout.jsx', LAYOUT],
    ['.env.local', SETTINGS],
  ];
  for (const [path, content] of all) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** Whether Next.js has rendered the page with the uploader when it built the site. */
export function isPrerendered(folder) {
  return readFileSync(join(folder, '.next/server/app/upload.html'), 'utf8').includes('<framelane-uploader');
}
