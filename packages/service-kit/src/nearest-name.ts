import leven from 'leven';

/** By default, a third of the letters. */
const toleranceOf = (name: string) => Math.ceil(name.length / 3);

/** The most similar name, if it differs in at most `tolerance` letters. Case, `_` and `-` make no difference. */
export function nearestName(
  name: string,
  known: readonly string[],
  tolerance: (target: string) => number = toleranceOf,
): string | undefined {
  const plain = plainName(name);
  const [nearest] = known
    .map((candidate) => ({ candidate, target: plainName(candidate) }))
    .filter(({ target }) => Math.abs(target.length - plain.length) <= tolerance(target))
    .map(({ candidate, target }) => ({ candidate, target, distance: leven(plain, target) }))
    .filter(({ target, distance }) => distance <= tolerance(target))
    .sort((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

function plainName(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase();
}
