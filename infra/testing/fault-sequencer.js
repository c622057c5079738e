import { LongestFirst } from './longest-first.js';

/** The fault files by duration, most of which is waiting. */
export const LONGEST_FAULTS = [
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

export default class LongestFaultsFirst extends LongestFirst {
  constructor() {
    super(LONGEST_FAULTS);
  }
}
