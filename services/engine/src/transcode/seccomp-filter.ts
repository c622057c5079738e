/**
 * What a sandboxed program may not ask the kernel for: other processes (threads it may have), sockets, and what is known
 * for its holes and of no use to it. By the number of the call on each architecture (Linux `unistd.h`).
 */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    // fork, vfork, socket, socketpair, ptrace, process_vm_readv, process_vm_writev
    denied: [57, 58, 41, 53, 101, 310, 311],
    // mount, umount2, pivot_root, unshare, setns, add_key, request_key, keyctl, perf_event_open, bpf, userfaultfd
    alsoDenied: [165, 166, 155, 272, 308, 248, 249, 250, 298, 321, 323],
    // Numbers from here on are calls of another convention (x32).
    end: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    // socket, socketpair, ptrace, process_vm_readv, process_vm_writev
    denied: [198, 199, 117, 270, 271],
    alsoDenied: [40, 39, 41, 97, 268, 217, 218, 219, 241, 280, 282],
    end: 0x40000000,
  },
};

type Architecture = {
  /** The kernel's own name of it. */
  audit: number;
  clone: number;
  denied: readonly number[];
  alsoDenied: readonly number[];
  end: number;
};

/** The same number everywhere: newer ways to start a process, and to have the kernel do calls on its own. */
const CLONE3 = 435;
const IO_URING_SETUP = 425;
/** Makes a thread of what `clone` would make a process. */
const CLONE_THREAD = 0x00010000;

const EPERM = 1;
const ENOSYS = 38;

/** Where things are in what the kernel lets a filter look at (`struct seccomp_data`). */
const FIELD = { call: 0, architecture: 4, firstArgument: 16 };
const VERDICT = { kill: 0x80000000, error: 0x00050000, allow: 0x7fff0000 };
/** Operations of classic BPF: load a word, jump if equal, if not less, if a bit is set, and return. */
const OPERATION = { load: 0x20, equal: 0x15, notLess: 0x35, bitSet: 0x45, return: 0x06 };

type Instruction = readonly [operation: number, ifTrue: number, ifFalse: number, value: number];

/**
 * A seccomp filter as bubblewrap takes it (`--seccomp`), or null where there is none for the architecture. Denied calls
 * fail with EPERM; `clone3` fails as if it did not exist, whereupon libraries make their threads with `clone`, whose
 * flags a filter can see.
 */
export function seccompFilter(architecture: NodeJS.Architecture): Buffer | null {
  const known = ARCHITECTURES[architecture];
  if (!known) return null;
  const denied = [...known.denied, ...known.alsoDenied, IO_URING_SETUP];
  const program: Instruction[] = [
    [OPERATION.load, 0, 0, FIELD.architecture],
    ...returnUnless(OPERATION.equal, known.audit, VERDICT.kill),
    [OPERATION.load, 0, 0, FIELD.call],
    ...returnIf(OPERATION.notLess, known.end, VERDICT.error | EPERM),
    ...returnIf(OPERATION.equal, CLONE3, VERDICT.error | ENOSYS),
    ...denied.flatMap((call) => returnIf(OPERATION.equal, call, VERDICT.error | EPERM)),
    ...returnUnless(OPERATION.equal, known.clone, VERDICT.allow),
    [OPERATION.load, 0, 0, FIELD.firstArgument],
    ...returnIf(OPERATION.bitSet, CLONE_THREAD, VERDICT.allow),
    [OPERATION.return, 0, 0, VERDICT.error | EPERM],
  ];
  return Buffer.concat(program.map(encoded));
}

function returnIf(operation: number, value: number, verdict: number): Instruction[] {
  return [
    [operation, 0, 1, value],
    [OPERATION.return, 0, 0, verdict],
  ];
}

function returnUnless(operation: number, value: number, verdict: number): Instruction[] {
  return [
    [operation, 1, 0, value],
    [OPERATION.return, 0, 0, verdict],
  ];
}

/** `struct sock_filter`; both architectures count from the little end. */
function encoded([operation, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(operation, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
