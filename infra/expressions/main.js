// Checks that the regular expressions that read untrusted text take linear time (ADR 58). Exits with 1 if one does not.
import { flawOf } from './check-expression.js';
import { isException } from './exceptions.js';
import { expressionsToCheck } from './sources.js';

const expressions = expressionsToCheck().filter((expression) => !isException(expression));
const flaws = [];
for (const expression of expressions) {
  const flaw = await flawOf(expression);
  if (flaw !== null)
    flaws.push(`${expression.source}: /${expression.pattern}/${expression.flags}\n  ${flaw}`);
}
for (const flaw of flaws) console.error(flaw);
console.log(`${expressions.length} expressions checked, ${flaws.length} take more than linear time.`);
process.exitCode = flaws.length === 0 ? 0 : 1;
