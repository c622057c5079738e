import { arch, platform } from 'node:os';

/**
 * Why Framelane cannot run on this machine, and what to do; undefined if it can. JavaScript, because it runs on any Node, before packages
 * are installed. `oldestNode` is a version such as `22.18`.
 */
export function machineProblem({
  oldestNode,
  node = process.versions.node,
  system = platform(),
  architecture = arch(),
}) {
  if (isOlder(node, oldestNode))
    return `Node ${node} is too old. Install Node ${oldestNode} or newer (https://nodejs.org).`;
  if (system === 'linux' && ['x64', 'arm64'].includes(architecture)) return undefined;
  return (
    `Framelane runs on Linux (x64, arm64), not on ${system} (${architecture}). ` +
    'Use a Linux machine, a virtual machine, a container, or WSL 2 on Windows.'
  );
}

/** Whether a version is older than another one, which may have fewer numbers. */
function isOlder(version, than) {
  const numbers = version.split('.').map(Number);
  for (const [at, wanted] of than.split('.').map(Number).entries())
    if (numbers[at] !== wanted) return numbers[at] < wanted;
  return false;
}
