/** The same in every run, so that a new failure is due to a change and not to other input. */
const DEFAULT_SEED = 20_260_101;

/** The seed of tests with random input: PROPERTY_SEED, or a new one with PROPERTY_SEED=random. */
export function testSeed(): number {
  const given = process.env.PROPERTY_SEED;
  if (given === undefined) return DEFAULT_SEED;
  if (given === 'random') return Math.floor(Math.random() * 2 ** 31);
  if (!/^\d+$/.test(given)) throw new Error(`PROPERTY_SEED must be a number or "random", not ${given}`);
  return Number(given);
}
