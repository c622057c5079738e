import { AsyncLocalStorage } from 'node:async_hooks';

/** Who changes something: the trigger `record_change` writes it into the audit log. */
export type Actor = {
  type: 'api_key' | 'person' | 'link' | 'command_line';
  /** The key or the session; null for the command line. */
  id: string | null;
  /** The name of the key, of the person, or of the sign-in link. */
  name: string;
  /** The operationId, or the command. */
  operation: string;
  /** As in X-Request-Id; null for the command line. */
  requestId: string | null;
};

const actors = new AsyncLocalStorage<Actor>();

/** Does work whose transactions record what they change (ADR 101). */
export function asActor<T>(actor: Actor, work: () => T): T {
  return actors.run(actor, work);
}

/** The actor of the work in progress; undefined for background work and the requests of engines. */
export function currentActor(): Actor | undefined {
  return actors.getStore();
}
