/** Names without a leading dot, joined by single slashes: safe as a path below a folder and in a URL. */
const KEY = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;

/** Throws a TypeError when `key` is none that object-keys.ts could have built. */
export function assertKey(key: string): void {
  if (!KEY.test(key)) throw new TypeError(`Not an object key: ${JSON.stringify(key)}`);
}

/** Throws a TypeError unless `prefix` is a key and a slash: `…/vid_1` would take in `…/vid_10` as well. */
export function assertPrefix(prefix: string): void {
  if (!prefix.endsWith('/') || !KEY.test(prefix.slice(0, -1))) {
    throw new TypeError(`Not an object key prefix: ${JSON.stringify(prefix)}`);
  }
}
