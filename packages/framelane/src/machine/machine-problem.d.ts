/** Why Framelane cannot run on this machine, and what to do; undefined if it can. `oldestNode` is a version such as `22.18`. */
export function machineProblem(facts: {
  oldestNode: string;
  node?: string;
  system?: string;
  architecture?: string;
}): string | undefined;
