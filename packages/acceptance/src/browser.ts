import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, launch } from 'puppeteer-core';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Path of an installed Chromium, or undefined. */
export function findBrowser(): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return PROGRAMS.flatMap((name) => directories.map((directory) => join(directory, name))).find(isExecutable);
}

/** Starts a headless browser. Chromium's sandbox does not work for root, as in most containers. */
export async function startBrowser(executablePath: string): Promise<Browser> {
  const root = process.getuid?.() === 0;
  return launch({
    executablePath,
    pipe: true,
    args: ['--disable-dev-shm-usage', ...(root ? ['--no-sandbox'] : [])],
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
