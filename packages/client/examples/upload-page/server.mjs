import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { createClient, FramelaneError } from '@framelane/client';

const framelane = createClient({
  baseUrl: process.env.FRAMELANE_BASE_URL,
  apiKey: process.env.FRAMELANE_API_KEY,
  workspaceId: process.env.FRAMELANE_WORKSPACE_ID,
});

/** URL of the installed browser modules. With a bundler you need not serve them. */
const MODULES = import.meta.resolve('@framelane/client/browser');

const server = createServer(async (req, res) => {
  try {
    if (req.method === 'POST' && req.url === '/tickets') {
      // In production, authenticate the user first.
      const { filename, size } = await json(req);
      const ticket = await framelane.uploadTickets.create({ filename, size });
      res.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(ticket));
    } else {
      await sendFile(req.url, res);
    }
  } catch (error) {
    const { status, problem } = error instanceof FramelaneError ? error : {};
    res.writeHead(status ?? 500).end(JSON.stringify(problem ?? { code: 'internal_error' }));
  }
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Open http://localhost:${server.address().port}`);
});

async function sendFile(path, res) {
  const module = /^\/framelane\/([\w-]+\.js)$/.exec(path)?.[1];
  if (path === '/') await send(res, 'text/html', new URL('index.html', import.meta.url));
  else if (path === '/page.js') await send(res, 'text/javascript', new URL('page.js', import.meta.url));
  else if (module) await send(res, 'text/javascript', new URL(module, MODULES));
  else res.writeHead(404).end();
}

async function send(res, type, file) {
  const content = await readFile(file);
  res.writeHead(200, { 'Content-Type': type }).end(content);
}
