import { LongestFirst } from './longest-first.js';

/** The integration tests that take longest. */
export const LONGEST_INTEGRATION_TESTS = [
  'transcode/pieces',
  'transcode/packagings',
  'transcode/codec-pieces',
  'outputs/clip',
  'source/tracks-and-timestamps',
  'source/codecs',
  'single-node/tests/single-node',
  'control-plane/tests/property',
  'transcode/transcode-worker',
  'plan/stream-copy',
  'transcode/hardware',
  'transcode/tasks',
  'hardware/probe-device',
  'tests/s3-object-store',
  'source/inputs',
  'source/av1-and-hevc',
  'source/hostile-av1-and-hevc',
  'source/sound-alone',
  'outputs/watermarks',
  'source/orientation-and-colours',
  'tests/upload-memory',
  'control-plane/tests/documented-statuses',
  'source/refusals',
  'sandbox/confinement',
  'source/interlaced',
  'control-plane/tests/tasks',
  'outputs/hostile-output',
  'ffmpeg/run-ffmpeg',
  'control-plane/tests/authentication',
  'control-plane/tests/hostile-requests',
];

export default class LongestIntegrationTestsFirst extends LongestFirst {
  constructor() {
    super(LONGEST_INTEGRATION_TESTS);
  }
}
