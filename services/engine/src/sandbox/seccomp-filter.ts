/** The numbers of a system call; null if the architecture does not have it. */
type Numbers = readonly [x64: number, arm64: number | null];

/**
 * System calls that a sandboxed program may not make, with their numbers on x86-64 and arm64 (Linux `unistd.h`). Landlock version 3
 * does not control the attributes of files, other processes and the network. This list does.
 */
const DENIED: Record<string, Numbers> = {
  // Processes. Threads are allowed, see `clone`.
  fork: [57, null],
  vfork: [58, null],
  // The network. To deny `socket` is not enough: standard output is inherited and can be a socket. So the calls that bind or connect
  // it, or send open files through it, are denied, too.
  socket: [41, 198],
  socketpair: [53, 199],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  connect: [42, 203],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  // The memory, descriptors, scheduling and end of other processes.
  ptrace: [101, 117],
  get_robust_list: [274, 100],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  kcmp: [312, 272],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  // Links, files other than regular ones, handles and attributes of files, and file events.
  link: [86, null],
  linkat: [265, 37],
  symlink: [88, null],
  symlinkat: [266, 36],
  mknod: [133, null],
  mknodat: [259, 33],
  mkdir: [83, null],
  mkdirat: [258, 34],
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  chown: [92, null],
  lchown: [94, null],
  fchown: [93, 55],
  fchownat: [260, 54],
  utime: [132, null],
  utimes: [235, null],
  futimesat: [261, null],
  utimensat: [280, 88],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  getxattr: [191, 8],
  lgetxattr: [192, 9],
  fgetxattr: [193, 10],
  listxattr: [194, 11],
  llistxattr: [195, 12],
  flistxattr: [196, 13],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  setxattrat: [463, 463],
  getxattrat: [464, 464],
  listxattrat: [465, 465],
  removexattrat: [466, 466],
  file_getattr: [468, 468],
  file_setattr: [469, 469],
  // `RENAME_WHITEOUT` creates a device file. `rename` and `renameat` have no flags.
  renameat2: [316, 276],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  inotify_init: [253, null],
  inotify_init1: [294, 26],
  fanotify_init: [300, 262],
  // Memory, semaphores and messages: what outlives the program, escapes its limits or belongs to other programs of the user.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  semctl: [66, 191],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  // Mounts and namespaces.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  // Calls with a history of vulnerabilities.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  perf_event_open: [298, 241],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  // The kernel's log.
  syslog: [103, 116],
};

/** Calls that are denied only for certain commands. The command is the second argument. */
const DENIED_COMMANDS: readonly { call: Numbers; commands: Record<string, number> }[] = [
  {
    // fcntl: signals to other processes, and file leases, which block others that open the file.
    call: [72, 25],
    commands: {
      F_SETOWN: 8,
      F_SETSIG: 10,
      F_SETOWN_EX: 15,
      F_SETLEASE: 1024,
      F_NOTIFY: 1026,
      F_SETDELEG: 1040,
    },
  },
  {
    // ioctl: signals to other processes through a socket.
    call: [16, 29],
    commands: { FIOSETOWN: 0x8901, SIOCSPGRP: 0x8902 },
  },
];

type Architecture = {
  /** The column in `DENIED`. */
  column: 0 | 1;
  /** The kernel's constant for the architecture (`AUDIT_ARCH_*`). */
  audit: number;
  clone: number;
  prlimit64: number;
  /** Calls from this number on are denied. On x86-64 they belong to another calling convention (x32). */
  end: number;
};

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, Architecture>> = {
  x64: { column: 0, audit: 0xc000003e, clone: 56, prlimit64: 302, end: 0x40000000 },
  arm64: { column: 1, audit: 0xc00000b7, clone: 220, prlimit64: 261, end: 0x40000000 },
};

const CLONE3 = 435;
/** The flag with which `clone` creates a thread instead of a process. */
const CLONE_THREAD = 0x00010000;

const EPERM = 1;
const ENOSYS = 38;

/** Offsets in the data that the kernel passes to a filter (`struct seccomp_data`). */
const FIELD = { call: 0, architecture: 4, firstArgument: 16, secondArgument: 24 };
const VERDICT = { kill: 0x80000000, error: 0x00050000, allow: 0x7fff0000 };
const DENY = VERDICT.error | EPERM;
/** Operations of classic BPF: load a word, jump if equal, jump if greater or equal, jump if a bit is set, return. */
const OPERATION = { load: 0x20, equal: 0x15, notLess: 0x35, bitSet: 0x45, return: 0x06 };

type Instruction = readonly [operation: number, ifTrue: number, ifFalse: number, value: number];

/**
 * A seccomp filter in the format of bubblewrap (`--seccomp`) and setpriv (`--seccomp-filter`), or null for an architecture other
 * than x86-64 and arm64. Denied calls fail with EPERM. `clone3` fails with ENOSYS, so that libraries create threads with
 * `clone`, whose flags a filter can check. `prlimit64` is allowed for the calling process only.
 */
export function seccompFilter(architecture: NodeJS.Architecture): Buffer | null {
  const known = ARCHITECTURES[architecture];
  if (!known) return null;
  const denied = Object.values(DENIED).flatMap((numbers) => numbers[known.column] ?? []);
  const program: Instruction[] = [
    [OPERATION.load, 0, 0, FIELD.architecture],
    ...returnUnless(OPERATION.equal, known.audit, VERDICT.kill),
    [OPERATION.load, 0, 0, FIELD.call],
    ...returnIf(OPERATION.notLess, known.end, DENY),
    ...returnIf(OPERATION.equal, CLONE3, VERDICT.error | ENOSYS),
    ...denied.flatMap((call) => returnIf(OPERATION.equal, call, DENY)),
    ...DENIED_COMMANDS.flatMap(({ call, commands }) =>
      denyCommands(call[known.column], Object.values(commands)),
    ),
    ...allowCallIf(known.clone, OPERATION.bitSet, CLONE_THREAD),
    ...allowCallIf(known.prlimit64, OPERATION.equal, 0),
    [OPERATION.return, 0, 0, VERDICT.allow],
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

/** Allows or denies one system call, depending on its first argument. Other system calls skip these instructions. */
function allowCallIf(call: number, operation: number, value: number): Instruction[] {
  const decision: Instruction[] = [
    [OPERATION.load, 0, 0, FIELD.firstArgument],
    ...returnIf(operation, value, VERDICT.allow),
    [OPERATION.return, 0, 0, DENY],
  ];
  return [[OPERATION.equal, 0, decision.length, call], ...decision];
}

/** Denies a call for some values of its second argument, of which the kernel reads the low 32 bits. */
function denyCommands(call: number | null, commands: readonly number[]): Instruction[] {
  if (call === null) return [];
  const decision: Instruction[] = [
    [OPERATION.load, 0, 0, FIELD.secondArgument],
    ...commands.flatMap((command) => returnIf(OPERATION.equal, command, DENY)),
    [OPERATION.return, 0, 0, VERDICT.allow],
  ];
  return [[OPERATION.equal, 0, decision.length, call], ...decision];
}

/** One `struct sock_filter`. Both architectures are little-endian. */
function encoded([operation, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(operation, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
