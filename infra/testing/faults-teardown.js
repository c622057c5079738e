import { rm } from 'node:fs/promises';

/** Jest's globalTeardown: removes what faults-setup.js has created. */
export default async function stopServers() {
  const { directory, postgres, rabbitmq } = globalThis.faultServers;
  try {
    await Promise.all([postgres?.stop(), rabbitmq?.remove()]);
  } finally {
    await rm(directory, { recursive: true });
  }
}
