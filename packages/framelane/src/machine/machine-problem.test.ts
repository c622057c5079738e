import { expect, test } from '@jest/globals';
import { machineProblem } from './machine-problem.js';

const machine = { oldestNode: '22.18', node: '24.1.0', system: 'linux', architecture: 'arm64' };

test.each(['22.18.0', '22.20.1', '24.0.0'])('Node %s is new enough for 22.18', (node) => {
  expect(machineProblem({ ...machine, node })).toBeUndefined();
});

test.each(['22.17.9', '20.20.2', '8.0.0'])('Node %s is too old for 22.18', (node) => {
  expect(machineProblem({ ...machine, node })).toBe(
    `Node ${node} is too old. Install Node 22.18 or newer (https://nodejs.org).`,
  );
});

test.each([
  ['darwin', 'arm64'],
  ['linux', 'ppc64'],
])('%s on %s is not supported', (system, architecture) => {
  expect(machineProblem({ ...machine, system, architecture })).toContain(
    `not on ${system} (${architecture}). Use a Linux machine`,
  );
});
