import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts a load generator in its own process: a program beside this file that performs each task, and sends its result back. */
export function startGenerator<Task extends object, Result>(program: string) {
  const child = fork(join(import.meta.dirname, program));
  const failed = once(child, 'exit').then(() => {
    throw new Error('The load generator failed; see the lines above');
  });
  failed.catch(() => {});
  return {
    shoot: async (task: Task): Promise<Result> => {
      const response = once(child, 'message');
      child.send(task);
      const [result] = await Promise.race([response, failed]);
      return result;
    },
    stop: () => child.disconnect(),
  };
}
