import { hkdfSync } from 'node:crypto';
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';

/** A secret that encrypts other secrets: exactly 32 bytes. */
export type SealingSecret = Uint8Array;

/** Length of a key id in bytes: enough to distinguish the few secrets of an installation. */
const KEY_ID_BYTES = 8;

/**
 * The secrets that open sealed values: the current one, which also seals new values, and previous ones. A sealed value is a compact
 * JWE (`dir`, `A256GCM`, RFC 7516) whose header names its secret by a key id (`kid`). Secrets are stored in this form only.
 */
export class SealingKeys {
  readonly #current: SealingSecret;
  readonly #previous: readonly SealingSecret[];
  readonly #byId: ReadonlyMap<string, SealingSecret>;
  readonly #header: { alg: string; enc: string; kid: string };

  constructor(current: SealingSecret, previous: readonly SealingSecret[] = []) {
    this.#current = current;
    this.#previous = previous;
    this.#byId = new Map(this.all.map((secret) => [keyIdOf(secret), secret]));
    this.#header = { alg: 'dir', enc: 'A256GCM', kid: keyIdOf(current) };
  }

  /** Every secret, the current one first. */
  get all(): readonly [SealingSecret, ...SealingSecret[]] {
    return [this.#current, ...this.#previous];
  }

  /** The JWE header of all values sealed with the current secret: their part before the first full stop. */
  get header(): string {
    return Buffer.from(JSON.stringify(this.#header)).toString('base64url');
  }

  /** Seals a value with the current secret. */
  async seal(plaintext: Uint8Array): Promise<string> {
    return new CompactEncrypt(plaintext).setProtectedHeader(this.#header).encrypt(this.#current);
  }

  /** Opens a sealed value. Throws if it was altered or sealed with none of these secrets. */
  async open(sealed: string): Promise<Buffer> {
    const secret = this.#byId.get(decodeProtectedHeader(sealed).kid ?? '');
    if (secret === undefined) throw new Error('The value was sealed with a secret that is not configured');
    try {
      const { plaintext } = await compactDecrypt(sealed, secret, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      return Buffer.from(plaintext);
    } catch (cause) {
      throw new Error('The sealed value was altered', { cause });
    }
  }

  /** Keys for one purpose, derived from these (HKDF-SHA-256, RFC 5869). Values sealed for one purpose do not open for another. */
  derive(purpose: string): SealingKeys {
    const derived = (secret: SealingSecret) => deriveSecret(secret, purpose);
    return new SealingKeys(derived(this.#current), this.#previous.map(derived));
  }
}

/** Identifies a secret without revealing it. */
function keyIdOf(secret: SealingSecret): string {
  return Buffer.from(deriveSecret(secret, 'key id').subarray(0, KEY_ID_BYTES)).toString('base64url');
}

function deriveSecret(secret: SealingSecret, purpose: string): SealingSecret {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
}
