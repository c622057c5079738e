import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Methods of kysely that add a clause. A query is still valid without the call. */
const CLAUSES = new Set([
  '$if',
  'forKeyShare',
  'forNoKeyUpdate',
  'forUpdate',
  'limit',
  'onConflict',
  'orderBy',
  'where',
  'whereRef',
]);

/** Leaves out one clause of a query, such as a `where`. Stryker's own mutators cannot leave out a clause. */
const queryClause = {
  name: 'QueryClause',
  *mutate(path) {
    if (!path.isCallExpression()) return;
    const { callee } = path.node;
    if (callee.type !== 'MemberExpression' || !CLAUSES.has(callee.property.name)) return;
    yield structuredClone(callee.object);
  },
};

// Stryker has no plugins for mutators, so this one is added to its list.
const core = createRequire(import.meta.url).resolve('@stryker-mutator/core');
const instrumenter = createRequire(core).resolve('@stryker-mutator/instrumenter');
const { allMutators } = await import(pathToFileURL(join(dirname(instrumenter), 'mutators/mutate.js')).href);
allMutators.push(queryClause);

/** Keeps `percent` of the mutants, evenly chosen. */
export function sampleMutants(percent) {
  let seen = 0;
  for (const mutator of allMutators) {
    const { mutate } = mutator;
    mutator.mutate = function* (...args) {
      for (const replacement of mutate(...args)) {
        seen += percent;
        if (seen >= 100) yield replacement;
        seen %= 100;
      }
    };
  }
}
