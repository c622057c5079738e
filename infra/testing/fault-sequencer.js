import { basename } from 'node:path';

/** The fault files by duration. Most of it is waiting, so a long file at the end would run alone on an idle machine. */
const LONGEST_FIRST = [
  'long-videos',
  'upload-ends',
  'network',
  'storage',
  'uploads',
  'messaging',
  'resumable-uploads',
  'kills',
  'stops',
  'transcoding',
  'webhooks',
];

/** A test sequencer of jest for the fault suite. Files that are not listed come last. */
export default class LongestFirst {
  sort(tests) {
    return tests.toSorted((a, b) => rank(a) - rank(b));
  }

  /** Jest would store durations, which a new machine does not have. */
  cacheResults() {}
}

function rank({ path }) {
  const index = LONGEST_FIRST.indexOf(basename(path, '.faults.ts'));
  return index === -1 ? LONGEST_FIRST.length : index;
}
