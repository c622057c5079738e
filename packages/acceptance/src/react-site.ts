import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ELEMENTS = join(import.meta.dirname, '../../elements');

/** What the pages use of Next.js. */
const NAVIGATION = `
export const useRouter = () => ({ push: (path) => location.assign(path) });
export const notFound = () => { throw new Error('not found'); };`;

type Handler = (request: Request) => Promise<Response>;

/**
 * The site of the guide to Next.js without Next.js: React renders its pages on the server, and hydrates them in the browser. A page has a paragraph after
 * it, which moves if the page changes its size.
 */
export class ReactSite {
  readonly #directory: string;
  readonly #server: Server;
  /** Bundles by the paths at which the browser loads them. */
  readonly #bundles = new Map<string, string>();
  /** Pages that tests have added, by their paths. */
  readonly #pages = new Map<string, string>();

  private constructor(directory: string) {
    this.#directory = directory;
    this.#server = createServer((request, response) => void this.#respond(request, response));
  }

  /** Starts the site of the files in `nextjs` of a directory, in which the packages are installed. */
  static async start(directory: string): Promise<ReactSite> {
    const modules = join(directory, 'node_modules');
    for (const name of ['react', 'react-dom'])
      await symlink(join(ELEMENTS, 'node_modules', name), join(modules, name));
    await mkdir(join(modules, 'next'));
    await writeFile(
      join(modules, 'next/package.json'),
      '{ "type": "module", "exports": { "./navigation": "./navigation.js" } }',
    );
    await writeFile(join(modules, 'next/navigation.js'), NAVIGATION);
    const site = new ReactSite(directory);
    await once(site.#server.listen(0, '127.0.0.1'), 'listening');
    return site;
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Adds a page with the two components, and returns its URL. React hydrates it when the test calls `hydrateNow()`, and hides and shows it by `setMode()`.
   * `heard` of the page has the events that the listeners of the player got.
   */
  async addLatePage(player: Record<string, string>, uploader: Record<string, unknown>): Promise<string> {
    const { Activity, createElement } = this.#require('react');
    const { FramelanePlayer, FramelaneUploader } = this.#require('@framelane/elements/react');
    const children = [
      createElement(FramelanePlayer, { ...player, key: 1 }),
      createElement(FramelaneUploader, { ...uploader, key: 2 }),
    ];
    const script = `import { FramelanePlayer, FramelaneUploader } from '@framelane/elements/react';
      import { Activity, StrictMode } from 'react';
      window.heard = [];
      const hear = ({ type, target }) => heard.push(type + ' ' + target.localName);
      const player = { ...${JSON.stringify(player)}, onReady: hear, onTokenExpired: hear };
      const tree = (mode) => <StrictMode><Activity mode={mode}>
        <FramelanePlayer {...player} /><FramelaneUploader {...${JSON.stringify(uploader)}} />
      </Activity></StrictMode>;
      window.hydrateNow = () => {
        const root = hydrate(tree('visible'));
        window.setMode = (mode) => root.render(tree(mode));
      };`;
    const path = `/late-${this.#pages.size}`;
    this.#pages.set(path, await this.#html(createElement(Activity, null, children), script));
    return `${this.url}${path}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'Content-Type': type }).end(body);
    const bundle = this.#bundles.get(path);
    const page = this.#pages.get(path);
    const [, id] = /^\/videos\/(\w+)$/.exec(path) ?? [];
    if (bundle !== undefined) send(200, 'text/javascript', bundle);
    else if (page !== undefined) send(200, 'text/html', page);
    else if (path === '/api/tickets') await this.#tickets(request, response);
    else if (path === '/upload') send(200, 'text/html', await this.#uploadPage());
    else if (id !== undefined) send(200, 'text/html', await this.#videoPage(id));
    else send(404, 'text/plain', '');
  }

  async #tickets(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { POST } = (await this.#load('app/api/tickets/route.js')) as { POST: Handler };
    const result = await POST(new Request(`${this.url}/`, { method: 'POST', body: await text(request) }));
    response.writeHead(result.status, { 'Content-Type': 'application/json' }).end(await result.text());
  }

  async #uploadPage(): Promise<string> {
    const { default: Page } = await this.#component('app/upload/page.jsx');
    const { createElement } = this.#require('react');
    const script = `import Page from './nextjs/app/upload/page.jsx'; hydrate(createElement(Page));`;
    return this.#html(createElement(Page), script);
  }

  /** A server component: the browser gets what it has rendered. Next.js sends the properties of client components in the same way. */
  async #videoPage(id: string): Promise<string> {
    const { default: Page } = await this.#component('app/videos/[id]/page.jsx');
    const tree = await Page({ params: Promise.resolve({ id }) });
    const [heading, player] = tree.props.children;
    const script = `import { FramelanePlayer } from '@framelane/elements/react';
      hydrate(createElement('main', null,
        createElement('h1', null, ${JSON.stringify(heading.props.children)}),
        createElement(FramelanePlayer, ${JSON.stringify(player.props)})));`;
    return this.#html(tree, script);
  }

  async #html(tree: unknown, script: string): Promise<string> {
    const rendered: string = this.#require('react-dom/server').renderToString(tree);
    const path = `/bundle-${this.#bundles.size}.js`;
    this.#bundles.set(path, await this.#bundle(script));
    return `<!doctype html><html lang="en"><title>A site</title><link rel="icon" href="data:,">
      <div id="root">${rendered}</div><p>After the page</p><script type="module" src="${path}"></script>`;
  }

  /** `hydrationErrors` of the page has what React corrected. */
  async #bundle(script: string): Promise<string> {
    const contents = `import { createElement } from 'react';
      import { hydrateRoot } from 'react-dom/client';
      window.hydrationErrors = [];
      const onRecoverableError = (error) => window.hydrationErrors.push(String(error));
      const hydrate = (tree) => hydrateRoot(document.querySelector('#root'), tree, { onRecoverableError });
      ${script}`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: this.#directory, loader: 'jsx' },
      bundle: true,
      write: false,
      format: 'esm',
      jsx: 'automatic',
      define: { 'process.env.NODE_ENV': '"development"' },
    });
    return outputFiles[0]?.text ?? '';
  }

  /** Compiles a component beside its file, so that its imports stay valid. */
  async #component(path: string) {
    const compiled = path.replace(/\.jsx$/, '.mjs');
    const directory = join(this.#directory, 'nextjs');
    await build({
      entryPoints: [join(directory, path)],
      outfile: join(directory, compiled),
      format: 'esm',
      jsx: 'automatic',
      loader: { '.jsx': 'jsx' },
    });
    return this.#load(compiled);
  }

  #load(path: string) {
    return import(pathToFileURL(join(this.#directory, 'nextjs', path)).href);
  }

  #require(name: string) {
    return createRequire(join(this.#directory, 'package.json'))(name);
  }
}
