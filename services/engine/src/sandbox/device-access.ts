import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { ownAccount } from '@framelane/service-kit/system-account';

/** What a confined program needs to use devices. */
export type DeviceAccess = {
  /** Device files that it reads and writes. */
  files: readonly string[];
  /** Files and folders that it reads. Real paths. */
  readable: readonly string[];
  /** Links that it follows, and their targets. */
  links: readonly { path: string; target: string }[];
  /** The groups of the device files, without those of root. */
  groups: readonly number[];
};

/** The device cannot be used. The message says why. */
export class DeviceError extends Error {
  override name = 'DeviceError';
}

/** The bits of a device number (`makedev` of glibc). */
const MAJOR_BITS = 8;
const LOW_MINOR = 0xff;
const MAJOR = 0xfff;
const HIGH_MINOR = 0xfffff00;
const HIGH_MINOR_SHIFT = 12;

/**
 * The access to a device: its file, the other device files that exist, and what describes the device in `/sys`, where drivers look it up.
 * Throws a DeviceError if the file of the device is missing, is no device, or the engine may not open it.
 */
export async function accessToDevice(
  device: string,
  { others, readable }: { others: readonly string[]; readable: readonly string[] },
): Promise<DeviceAccess> {
  const file = await stat(device).catch((cause: unknown) => {
    throw new DeviceError(`${device} does not exist. In a container, pass the device on.`, { cause });
  });
  if (!file.isCharacterDevice()) throw new DeviceError(`${device} is not a device.`);
  const isRoot = ownAccount().uid === 0;
  const mayOpen = await canAccess(device, constants.R_OK | constants.W_OK);
  if (!mayOpen && !isRoot) {
    throw new DeviceError(
      `The engine may not open ${device}. Its user must belong to the group ${file.gid}; in a container, add it with group_add.`,
    );
  }
  const present = await existing(others);
  const groups = await Promise.all(present.map(async (path) => (await stat(path)).gid));
  const described = await descriptionOf(file.rdev);
  return {
    files: [device, ...present],
    readable: [...(await existing(readable)), ...described.readable],
    links: described.links,
    groups: [...new Set([file.gid, ...groups])].filter((group) => group !== 0),
  };
}

/** The folder in `/sys` that describes a device of a bus, and the link by which it is found; nothing for other devices. */
async function descriptionOf(number: number): Promise<Pick<DeviceAccess, 'readable' | 'links'>> {
  const major = (number >> MAJOR_BITS) & MAJOR;
  const minor = (number & LOW_MINOR) | ((number >> HIGH_MINOR_SHIFT) & HIGH_MINOR);
  const path = `/sys/dev/char/${major}:${minor}`;
  try {
    const [target, folder] = await Promise.all([realpath(path), realpath(`${path}/device`)]);
    return { readable: [folder], links: [{ path, target }] };
  } catch {
    return { readable: [], links: [] };
  }
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => canAccess(path, constants.F_OK)));
  return paths.filter((_, at) => found[at]);
}

function canAccess(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
