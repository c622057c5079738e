import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { compete } from './contestant.ts';

/** A program: the S3 server of the tests, in its own process. */
const s3 = await FakeS3.start();
compete(Number(new URL(s3.endpoint).port));
