import { TypeID, typeid } from 'typeid-js';

/** Prefix of a public or internal id. An id is `<prefix>_` and 26 base32 characters of a UUIDv7 (TypeID). */
export type IdPrefix =
  | ('vid' | 'ws' | 'eng' | 'key' | 'ses' | 'whk' | 'evt' | 'dlv' | 'req' | 'msg' | 'xfr')
  | ('wmk' | 'log' | 'aud');

/** A new time-ordered id, e.g. `newId('vid')` → `vid_01k…`. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/** Whether `value` is a well-formed id with this prefix. */
export function isId(prefix: IdPrefix, value: string): boolean {
  try {
    return TypeID.fromString(value).getType() === prefix;
  } catch {
    return false;
  }
}
