/** An S3 server in a process of its own: sends its settings to the parent, and removes everything when that lets go. */
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
