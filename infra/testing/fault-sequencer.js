import { LongestFirst } from './longest-first.js';

/** The fault files by duration, most of which is waiting. */
export const LONGEST_FAULTS = [
  'long-videos',
  'storage',
  'upload-ends',
  'network',
  'codecs',
  'transcoding',
  'messaging',
  'uploads',
  'kills',
  'derivations',
  'resumable-uploads',
  'stops',
  'auto-captions',
  'short-videos',
  'webhooks',
];

export default class LongestFaultsFirst extends LongestFirst {
  constructor() {
    super(LONGEST_FAULTS);
  }
}
