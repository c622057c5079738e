import { expect } from '@jest/globals';
import type { StreamConfiguration } from '../../src/encoders/stream-reader.ts';

/** What is found in a stream that arrives in chunks of every length. They must agree. */
export function foundConfigurations(create: () => StreamConfiguration, stream: Buffer): string[] {
  const results = Array.from({ length: stream.length }, (_, at) => {
    const configuration = create();
    for (let from = 0; from < stream.length; from += at + 1) {
      configuration.push(stream.subarray(from, from + at + 1), from === 0);
    }
    return [...configuration.found];
  });
  const [first = []] = results;
  expect(results).toEqual(results.map(() => first));
  return first;
}
