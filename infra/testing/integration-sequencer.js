import { LongestFirst } from './longest-first.js';

/** The integration tests that take longest: all that take a quarter of a minute or more beside others. */
export const LONGEST_INTEGRATION_TESTS = [
  'transcode/pieces',
  'transcode/codec-pieces',
  'outputs/clip',
  'source/tracks-and-timestamps',
  'source/codecs',
  'transcode/transcode-worker',
  'single-node/tests/single-node',
  'framelane/tests/installed-program',
  'transcode/packagings',
  'source/orientation-and-colours',
  'control-plane/tests/property',
  'transcode/tasks',
  'tests/s3-object-store',
  'control-plane/tests/backups',
  'source/av1-and-hevc',
  'source/sound-alone',
  'transcode/hardware',
  'transcode/trim',
  'plan/stream-copy',
  'outputs/watermarks',
  'source/inputs',
  'other-streams',
  'source/refusals',
  'hardware/probe-device',
  'tests/upload-memory',
  'source/edit-lists',
  'outputs/hostile-output',
  'source/slow-video',
  'hls-conformance/tests/rules',
  'control-plane/tests/tasks',
  'control-plane/tests/videos',
  'control-plane/tests/documented-statuses',
  'sandbox/confinement',
  'source/hostile-av1-and-hevc',
  'message-bus/tests/rabbitmq-bus',
  'source/damaged-files',
  'source/audio',
  'single-node/tests/embedded-postgres',
  'single-node/tests/traces',
  'engine/tests/upload-faults',
  'ffmpeg/run-ffmpeg',
  'source/interlaced',
  'control-plane/tests/hostile-requests',
  'source/text-tracks',
  'outputs/picture',
  'transcode/background-tasks',
  'outputs/transcript',
  'source/chapters',
];

export default class LongestIntegrationTestsFirst extends LongestFirst {
  constructor() {
    super(LONGEST_INTEGRATION_TESTS);
  }
}
