import { registerHooks } from 'node:module';

/** A change of the code that breaks it. */
type Mutant = {
  /** The end of the path of the file. */
  file: string;
  find: string;
  replace: string;
};

const TICKETS = 'control-plane/src/upload-tickets/upload-tickets.store.ts';
const TASKS = 'control-plane/src/tasks/tasks.store.ts';
const LIFECYCLE = 'control-plane/src/videos/video-lifecycle.store.ts';
const COMMANDS = 'engine/src/transcode/command-handler.ts';

/** Ways to break the code, which the simulation must find. `node src/main.ts --mutant <name>` runs the code with one of them. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'video-not-locked': { file: LIFECYCLE, find: '    .forUpdate()\n', replace: '' },
  'move-from-any-status': { file: LIFECYCLE, find: "    .where('status', 'in', from)\n", replace: '' },
  'ticket-leased-twice': {
    file: TICKETS,
    find: "    .where((eb) => eb.or([eb('transfer_id', 'is', null), eb('lease_expires_at', '<=', sql<Date>`now()`)]))\n    .executeTakeFirst();\n  return result",
    replace: '    .executeTakeFirst();\n  return result',
  },
  'ticket-spent-twice': {
    file: TICKETS,
    find: "      eb('upload_tickets.used_at', 'is', null),\n",
    replace: '',
  },
  'ticket-of-another-transfer': {
    file: TICKETS,
    find: "      eb('upload_tickets.transfer_id', '=', transferId),\n",
    replace: '',
  },
  'fence-of-tries': { file: TASKS, find: "    .where('tries', '=', tryNumber)\n", replace: '' },
  'task-claimed-twice': {
    file: TASKS,
    find: 'and result is null and lease_expires_at is null and tasks.due_at <= now()',
    replace: 'and result is null and tasks.due_at <= now()',
  },
  'result-not-awaited': {
    file: COMMANDS,
    find: '  await publishResult(completed, bus);',
    replace: '  void publishResult(completed, bus).catch(() => {});',
  },
  'failure-not-reported': {
    file: COMMANDS,
    find: "  await publishResult(createMessage('task.failed'",
    replace: "  if (!retryable) await publishResult(createMessage('task.failed'",
  },
  'no-heartbeat': {
    file: 'engine/src/transcode/work-lease.ts',
    find: 'if (!hasProgressed && !mustRenew && !this.#isDue) return;',
    replace: 'return;',
  },
  'storage-not-retried': {
    file: 'engine/src/outputs/storage-retries.ts',
    find: 'for (let retries = 0; ; retries += 1) {',
    replace: 'for (let retries = 2; ; retries += 1) {',
  },
};

/** Loads the code with a mutant. Call it before the code is loaded. The result tells whether the changed file was loaded since. */
export function installMutant(name: string): () => boolean {
  const mutant = MUTANTS[name];
  if (mutant === undefined) {
    throw new Error(`No mutant is called ${name}. There are: ${Object.keys(MUTANTS).join(', ')}.`);
  }
  const { file, find, replace } = mutant;
  let isLoaded = false;
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!url.endsWith(file)) return loaded;
      const text = String(loaded.source);
      const changed = text.replace(find, () => replace);
      if (changed === text) throw new Error(`${file} has no place for the mutant ${name}`);
      isLoaded = true;
      return { ...loaded, source: changed };
    },
  });
  return () => isLoaded;
}
