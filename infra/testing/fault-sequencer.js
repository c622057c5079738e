import { LongestFirst } from './longest-first.js';

/** The fault files by duration, most of which is waiting. */
export const LONGEST_FAULTS = [
  'long-videos',
  'messaging',
  'network',
  'codecs',
  'upload-ends',
  'storage',
  'transcoding',
  'derivations',
  'uploads',
  'resumable-uploads',
  'kills',
  'stops',
  'short-videos',
  'backups',
  'auto-captions',
  'webhooks',
];

export default class LongestFaultsFirst extends LongestFirst {
  constructor() {
    super(LONGEST_FAULTS);
  }
}
