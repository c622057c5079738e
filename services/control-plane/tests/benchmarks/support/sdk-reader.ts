import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { compete } from './contestant.ts';

/** A program that sends objects as the S3 SDK reads them, and does nothing else. The path of a request is the key. */
const { S3_ENDPOINT: endpoint = '', S3_BUCKET: bucket = '' } = process.env;
const client = new S3Client({
  endpoint,
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  responseChecksumValidation: 'WHEN_REQUIRED',
});

const server = createServer(async (req, res) => {
  const { Body, ContentLength = 0 } = await client.send(
    new GetObjectCommand({ Bucket: bucket, Key: req.url?.slice(1) }),
  );
  res.writeHead(200, { 'Content-Length': ContentLength });
  await pipeline(Body as Readable, res);
});
server.listen(0, '127.0.0.1', () => compete((server.address() as AddressInfo).port));
