import { arch, platform } from 'node:os';
import { fail } from './terminal.js';

export const OLDEST_NODE = 20;

/** Exits with a message on a machine that Framelane does not support. */
export function checkMachine() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < OLDEST_NODE) {
    fail(
      `Node ${process.versions.node} is too old. Install Node ${OLDEST_NODE} or newer (https://nodejs.org).`,
    );
  }
  if (platform() !== 'linux' || !['x64', 'arm64'].includes(arch())) {
    fail(
      `Framelane runs on Linux (x64, arm64), not on ${platform()} (${arch()}). ` +
        'Use a Linux machine, a virtual machine, a container, or WSL 2 on Windows.',
    );
  }
}
