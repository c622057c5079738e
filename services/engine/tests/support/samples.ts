import { withBox } from './mp4-boxes.ts';

const SAMPLE_TABLE = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

/** Bytes of a table of sample sizes before the sizes: version and flags, the size of all samples, and their number. */
const TABLE_HEAD_BYTES = 12;

/** A copy of an MP4 with one track in one chunk and the index at the end, with other samples. */
export function withSamples(file: Buffer, changed: (sample: Buffer, number: number) => Buffer): Buffer {
  const sizes = file.indexOf('stsz') + 8;
  const commonBytes = file.readUInt32BE(sizes);
  const chunks = file.indexOf('stco') + 8;
  const count = file.readUInt32BE(sizes + 4);
  if (file.readUInt32BE(chunks) !== 1) throw new Error('The track has several chunks');
  const start = file.readUInt32BE(chunks + 4);
  let at = start;
  const samples = Array.from({ length: count }, (_, number) => {
    const bytes = commonBytes || file.readUInt32BE(sizes + 8 + 4 * number);
    at += bytes;
    return changed(file.subarray(at - bytes, at), number);
  });
  const media = file.indexOf('mdat');
  const content = Buffer.concat([file.subarray(media + 4, start), ...samples]);
  const withMedia = withBox(file, ['mdat'], () => content);
  return withBox(withMedia, [...SAMPLE_TABLE, 'stsz'], () => {
    const table = Buffer.alloc(TABLE_HEAD_BYTES + 4 * count);
    table.writeUInt32BE(count, 8);
    for (const [number, { length }] of samples.entries())
      table.writeUInt32BE(length, TABLE_HEAD_BYTES + 4 * number);
    return table;
  });
}

/** The samples of an MP4 with one track in one chunk. */
export function samplesOf(file: Buffer): Buffer[] {
  const samples: Buffer[] = [];
  withSamples(file, (sample) => {
    samples.push(sample);
    return sample;
  });
  return samples;
}
