import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';

/** Bundles a module as a site would, with the packages that are installed in `directory`. */
export async function bundle(code: string, directory: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: directory, loader: 'jsx' },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
}

/** Serves a page with this body while `use` runs. */
export async function withPage(
  { html = '', script = '' }: { html?: string; script?: string },
  use: (url: string) => Promise<void>,
): Promise<void> {
  const page = `<!doctype html><html lang="en"><title>A site</title><link rel="icon" href="data:,"><body>${html}
    <script type="module" src="/script.js"></script>`;
  const server = createServer(({ url }, response) =>
    url === '/script.js'
      ? response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(script)
      : response.writeHead(200, { 'Content-Type': 'text/html' }).end(page),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await use(`http://localhost:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}
