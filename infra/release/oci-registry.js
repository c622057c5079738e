import { join } from 'node:path';
import { freePort, startServer } from './started-server.js';

/**
 * Starts a registry of images and charts on this machine: `docker-registry` of Debian, the reference implementation of the OCI distribution
 * specification. Resolves with its host and port, and a function that stops it.
 */
export async function startOciRegistry(folder) {
  const host = `127.0.0.1:${await freePort()}`;
  const config = join(import.meta.dirname, 'oci-registry.yaml');
  const env = {
    PATH: process.env.PATH,
    REGISTRY_HTTP_ADDR: host,
    REGISTRY_STORAGE_FILESYSTEM_ROOTDIRECTORY: join(folder, 'images'),
  };
  const log = join(folder, 'docker-registry.log');
  const stop = await startServer('docker-registry', ['serve', config], {
    url: `http://${host}/v2/`,
    env,
    log,
  });
  return { host, stop };
}
