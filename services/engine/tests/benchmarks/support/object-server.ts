/** An S3 server in its own process. Sends its settings to the parent, and removes its files when the parent disconnects. */
import { FakeS3 } from '@framelane/test-kit/fake-s3';

const server = await FakeS3.start();
process.on('disconnect', () => void server.stop().then(() => process.exit()));
process.send?.({
  endpoint: server.endpoint,
  region: 'us-east-1',
  bucket: server.bucket,
  accessKeyId: 'id',
  secretAccessKey: 'secret',
  forcePathStyle: true,
});
