import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The program that opens a URL, by platform. A URL is an argument of its own, never part of a command line. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a URL in the browser of the user. It is no error if there is none: the URL is printed as well. */
export async function openInBrowser(url: string): Promise<void> {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn').catch(() => {});
  child.unref();
}
