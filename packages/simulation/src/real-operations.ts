/** Operations of Node that end by the real time: on files, on processes, on their pipes. Node names them. */
const NAMES = /^(FSReq|FileHandle|CloseReq|DirHandle|GetAddrInfo|Zlib|ProcessWrap|PipeWrap)/;

/** Methods of Web Crypto that the services use, through jose. Node does not name their operations. */
const CRYPTO_METHODS = ['encrypt', 'decrypt', 'sign', 'verify', 'digest', 'importKey', 'deriveBits'] as const;

/** Counts the operations of this Node process whose end the virtual time must wait for. Sockets are those of the database, which has its own count. */
export class RealOperations {
  /** The pipes of this Node process itself. */
  readonly #idle = named();
  #crypto = 0;

  /** Begins to count the operations of Web Crypto. */
  install(): void {
    const { subtle } = globalThis.crypto;
    for (const name of CRYPTO_METHODS) {
      const method = subtle[name].bind(subtle) as (...values: unknown[]) => Promise<unknown>;
      const counted = async (...values: unknown[]) => {
        this.#crypto += 1;
        try {
          return await method(...values);
        } finally {
          this.#crypto -= 1;
        }
      };
      Object.defineProperty(subtle, name, { value: counted, configurable: true });
    }
  }

  /** Whether an operation is in progress. */
  get areInProgress(): boolean {
    return this.#crypto > 0 || named() > this.#idle;
  }
}

function named(): number {
  return process.getActiveResourcesInfo().filter((name) => NAMES.test(name)).length;
}
