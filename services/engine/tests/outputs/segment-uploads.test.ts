import { createDecipheriv } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { PackagingName } from '@framelane/contracts/packaging';
import type { RenditionName, VideoRendition } from '@framelane/contracts/renditions';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { outputPrefix } from '@framelane/object-store/object-keys';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { storeImages } from '../../src/outputs/images/image-files.ts';
import { SegmentUploads, type SegmentUploadsOptions } from '../../src/outputs/renditions/segment-uploads.ts';
import { initializationVector } from '../../src/outputs/segment-encryption.ts';
import { completeCounters } from '../../src/packagers/mpeg-ts/continuity.ts';
import { InvalidSegmentError } from '../../src/packagers/packager.ts';
import { packagerOf } from '../../src/packagers/packagers.ts';
import { planImages } from '../../src/plan/images.ts';
import { ToolOutput } from '../../src/sandbox/tool-output.ts';

let directory: string;
let folder: string;
let segment: string;
let output: ToolOutput;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'segment-uploads-'));
  folder = join(directory, 'output');
  await mkdir(folder);
  output = await ToolOutput.open(folder);
  segment = await makeClip(join(directory, 'segment.ts'), { video: 'testsrc2=s=16x16:r=25:d=0.2' });
});
afterEach(async () => {
  await output.close();
  await rm(directory, { recursive: true });
});

/** Writes the segments `from` up to `to` (exclusive), as ffmpeg does. */
async function finish(from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 1) await copyFile(segment, join(folder, `360p-${at}.ts`));
}

/** Uploads of renditions to a store that waits for `gate`, and the reported failures. */
function uploadsTo(
  gate: Promise<void>,
  maxSegments: number,
  renditions: RenditionName[] = ['360p'],
  iFramesOf: VideoRendition | null = null,
  copied: RenditionName[] = [],
  piece?: SegmentUploadsOptions['piece'],
  packaging: PackagingName = 'ts',
) {
  const abort = new AbortController();
  const objects = new FileObjectStore(join(directory, 'objects'));
  const store = objects.putStream.bind(objects);
  objects.putStream = async (key, body, options) => {
    await gate;
    return store(key, body, options);
  };
  const failures: unknown[] = [];
  const started: unknown[] = [];
  const uploads = new SegmentUploads({
    output,
    objects,
    packager: packagerOf(packaging),
    contentKey: Buffer.alloc(16),
    maxSegments,
    maxBytes: 100_000,
    renditions: new Set(renditions),
    copied: new Set(copied),
    iFramesOf,
    keyOf: (rendition, sequence) => `hls/w/v/a1/${rendition}/${sequence}.ts`,
    signal: abort.signal,
    onFailure: (failure) => failures.push(failure),
    onRenditionStarted: (...facts) => started.push(facts),
    piece,
  });
  return { uploads, failures, started, objects, abort };
}

/** The decrypted content of a stored segment. */
async function decrypted(objects: FileObjectStore, rendition: RenditionName, sequence: number) {
  const object = await objects.get(`hls/w/v/a1/${rendition}/${sequence}.ts`);
  const decipher = createDecipheriv('aes-128-cbc', Buffer.alloc(16), initializationVector(sequence));
  return Buffer.concat([decipher.update(await buffer(object.body)), decipher.final()]);
}

const HOSTILE = { code: 'transcode_failed', retryable: false };

describe('the I-frames of a rendition', () => {
  /** Writes the two segments of a clip of four seconds, the second one first. Its key frames are half a second apart. */
  async function finishBoth(uploads: SegmentUploads): Promise<void> {
    const clip = await makeClip(join(directory, 'clip.ts'), {
      video: 'testsrc2=s=64x64:r=10:d=4',
      options: ['-g', '5', '-bf', '2', '-sc_threshold', '0'],
    });
    await runProgram('ffmpeg', [
      ...['-v', 'error', '-i', clip, '-c', 'copy', '-f', 'segment', '-segment_time', '2'],
      join(directory, 'part-%d.ts'),
    ]);
    for (const at of [1, 0]) {
      await copyFile(join(directory, `part-${at}.ts`), join(folder, `360p-${at}.ts`));
      await uploads.collect();
      await uploads.settle();
    }
  }

  test('are stored in order, one second apart, each as a segment of its own', async () => {
    const { uploads, objects } = uploadsTo(Promise.resolve(), 3, ['360p'], '360p');
    await finishBoth(uploads);
    const stored = (await uploads.finish()).get('iframes') ?? [];
    const first = stored[0]?.start ?? Number.NaN;
    expect(stored.map(({ start }) => Number((start - first).toFixed(3)))).toEqual([0, 1, 2, 3]);
    for (const [sequence, { bytes }] of stored.entries()) {
      expect((await objects.get(`hls/w/v/a1/iframes/${sequence}.ts`)).bytes).toBe(bytes);
      const path = join(directory, `${sequence}.ts`);
      await writeFile(path, await decrypted(objects, 'iframes', sequence));
      const { stdout } = await runProgram('ffprobe', [
        ...['-v', 'error', '-show_entries', 'frame=pict_type', '-of', 'csv=p=0', path],
      ]);
      expect(stdout).toMatch(/^I,?\s*$/);
    }
  });

  test('fail the job when they cannot be stored', async () => {
    const { uploads, objects, failures } = uploadsTo(Promise.resolve(), 3, ['360p'], '360p');
    objects.put = () => Promise.reject(new Error('the store is down'));
    await finishBoth(uploads);
    await expect(uploads.finish()).rejects.toMatchObject({ code: 'storage_failed', retryable: true });
    expect(failures).toHaveLength(1);
  });
});

describe('the segments of a piece', () => {
  const uploadsOf = (isFollowed: boolean) => {
    const piece = { firstSegment: 2, firstIFrame: 0, isFollowed };
    return uploadsTo(Promise.resolve(), 2, ['360p'], null, [], piece);
  };

  test('are complete when the next one exists, or at the end', async () => {
    const { uploads, started } = uploadsOf(false);
    await finish(2, 3);
    await uploads.collect();
    await uploads.settle();
    expect(await readdir(folder)).toEqual(['360p-2.ts']);
    await finish(3, 4);
    await uploads.collect();
    await uploads.settle();
    expect(await readdir(folder)).toEqual(['360p-3.ts']);
    const stored = (await uploads.finish()).get('360p') ?? [];
    expect(await readdir(folder)).toEqual([]);
    expect(Object.keys(stored)).toEqual(['2', '3']);
    // Only the first segment of a video starts a rendition.
    expect(started).toEqual([]);
  });

  test.each([true, false])(
    'have complete counters in the last one, if another piece follows: %s',
    async (isFollowed) => {
      const { uploads, objects } = uploadsOf(isFollowed);
      await finish(2, 4);
      await uploads.finish();
      const written = await readFile(segment);
      expect(completeCounters(written).equals(written)).toBe(false);
      expect(await decrypted(objects, '360p', 2)).toEqual(written);
      expect(await decrypted(objects, '360p', 3)).toEqual(isFollowed ? completeCounters(written) : written);
    },
  );

  test.each([1, 4])('do not include segment %d', async (sequence) => {
    const { uploads } = uploadsOf(false);
    await finish(sequence, sequence + 1);
    await expect(uploads.finish()).rejects.toMatchObject({ code: 'malformed_media', retryable: false });
  });
});

test('a stored segment is described, and the first one of a rendition reported', async () => {
  const { uploads, started, objects } = uploadsTo(Promise.resolve(), 3);
  await finish(0, 2);
  const stored = await uploads.finish();
  expect([...stored.keys()]).toEqual(['360p']);
  const { bytes } = await objects.get('hls/w/v/a1/360p/1.ts');
  expect(stored.get('360p')?.[1]).toMatchObject({
    bytes,
    start: expect.any(Number),
    codecs: expect.any(String),
  });
  expect(started).toEqual([['360p', { codecs: stored.get('360p')?.[0]?.codecs }]]);
});

describe('segments with an initialization section', () => {
  let clip: Buffer;
  /** Where the first and the second fragment of the clip begin. */
  let fragments: number[];

  /** A clip of two seconds in two fragments, with B-frames. */
  beforeEach(async () => {
    const path = await makeClip(join(directory, 'clip.mp4'), {
      video: 'testsrc2=s=64x64:r=10:d=2',
      options: [
        ...['-g', '10', '-bf', '2', '-sc_threshold', '0', '-use_editlist', '0'],
        ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof+skip_trailer'],
      ],
    });
    clip = await readFile(path);
    fragments = [clip.indexOf('moof') - 4, clip.lastIndexOf('moof') - 4];
  });

  const writeInitialization = (bytes = clip.subarray(0, fragments[0])) =>
    writeFile(join(folder, '360p-init.mp4'), bytes);
  const writeSegment = (sequence: number) =>
    writeFile(
      join(folder, `360p-${sequence}.m4s`),
      clip.subarray(fragments[sequence], fragments[sequence + 1] ?? clip.length),
    );
  const uploadsOf = (...options: [RenditionName[]?, (VideoRendition | null)?, RenditionName[]?]) => {
    const [renditions, iFramesOf, copied] = options;
    return uploadsTo(Promise.resolve(), 3, renditions, iFramesOf, copied, undefined, 'cmaf');
  };

  test('are described with it, also when they start and as I-frames', async () => {
    const { uploads, started, objects } = uploadsOf(['360p'], '360p');
    await writeInitialization();
    await writeSegment(0);
    await uploads.collect();
    await uploads.settle();
    // It is read once: what comes in its place later does not matter.
    await writeInitialization(Buffer.from('something else'));
    await writeSegment(1);
    const stored = await uploads.finish();
    const [first, second] = stored.get('360p') ?? [];
    const { codecs, initialization } = first ?? {};
    expect(started).toEqual([['360p', { codecs, initialization }]]);
    expect(second).toMatchObject({ codecs, initialization });
    expect((second?.start ?? 0) - (first?.start ?? 0)).toBeCloseTo(1, 6);
    const iFrames = stored.get('iframes') ?? [];
    expect(iFrames).toMatchObject([first, second].map((each) => ({ start: each?.start, initialization })));
    // Both decode with the stored section.
    const path = join(directory, 'stored.mp4');
    for (const [rendition, frames] of [
      ['360p', 20],
      ['iframes', 2],
    ] as const) {
      const segments = await Promise.all([0, 1].map((at) => decrypted(objects, rendition, at)));
      await writeFile(path, Buffer.concat([Buffer.from(initialization ?? '', 'base64'), ...segments]));
      const { stdout, stderr } = await runProgram('ffprobe', [
        ...['-v', 'error', '-count_frames', '-show_entries', 'stream=nb_read_frames', '-of', 'csv=p=0', path],
      ]);
      expect([Number.parseInt(stdout, 10), stderr]).toEqual([frames, '']);
    }
  });

  test.each([
    ['missing', null, HOSTILE],
    ['other bytes', Buffer.from('other bytes'), HOSTILE],
    ['empty', Buffer.alloc(0), { code: 'internal_error', retryable: true }],
  ])('fail the video if it is %s', async (_, bytes, expected) => {
    const { uploads, failures } = uploadsOf();
    if (bytes !== null) await writeInitialization(bytes);
    await writeSegment(0);
    await writeSegment(1);
    await expect(uploads.finish()).rejects.toMatchObject(expected);
    expect(failures).toHaveLength(1);
  });

  const withoutSets = (section: Buffer) => {
    const changed = Buffer.from(section);
    // Their number is the sixth byte of the record.
    changed[changed.indexOf('avcC') + 9] = 0xe0;
    return changed;
  };
  /** A section of more than 4 KiB: another box follows. */
  const tooLarge = (section: Buffer) => {
    const box = Buffer.alloc(4096);
    box.writeUInt32BE(box.length);
    box.write('free', 4, 'latin1');
    return Buffer.concat([section, box]);
  };
  test.each([
    ['it has no parameter sets', withoutSets],
    ['those of its source are too large', tooLarge],
  ])('of a stream copy are encoded if %s', async (_, changed) => {
    for (const [copied, expected] of [
      [['360p'], { name: 'InvalidSegmentError' }],
      [[], HOSTILE],
    ] as const) {
      const { uploads } = uploadsOf(['360p'], null, [...copied]);
      await writeInitialization(changed(clip.subarray(0, fragments[0])));
      await writeSegment(0);
      await expect(uploads.finish()).rejects.toMatchObject(expected);
    }
  });
});

test('audio may start at another time than video', async () => {
  const { uploads, failures } = uploadsTo(Promise.resolve(), 3, ['360p', 'audio']);
  await finish(0, 1);
  const options = ['-c:a', 'aac', '-output_ts_offset', '1'];
  await makeClip(join(folder, 'audio-0.ts'), { audio: 'sine=d=0.2', options });
  expect([...(await uploads.finish()).keys()].toSorted()).toEqual(['360p', 'audio']);
  expect(failures).toEqual([]);
});

test('too many segments for the duration fail the job', async () => {
  const { uploads, failures } = uploadsTo(Promise.resolve(), 3);
  await finish(0, 3);
  await uploads.collect();
  expect(failures).toEqual([]);
  await finish(3, 4);
  await uploads.collect();
  const message = expect.stringContaining('more segments than its duration allows');
  expect(failures).toMatchObject([{ code: 'malformed_media', retryable: false, message }]);
  await expect(uploads.finish()).rejects.toBe(failures[0]);
});

test('segments do not use the reserve of the disk of the objects', async () => {
  const { uploads, failures, objects } = uploadsTo(Promise.resolve(), 3);
  const disk = { freeBytes: 50, totalBytes: 1000 };
  objects.diskSpace = async () => ({ ...disk });
  await finish(0, 1);
  await uploads.collect();
  await uploads.settle();
  expect(failures).toEqual([]);
  disk.freeBytes = 49;
  await finish(1, 2);
  const message = 'The engine ran out of disk space. Retry the video later.';
  await expect(uploads.finish()).rejects.toMatchObject({ code: 'internal_error', retryable: true, message });
});

test('segments are not stored with too little free disk space', async () => {
  const { uploads } = uploadsTo(Promise.resolve(), 3);
  const freeBytes = jest.spyOn(output, 'freeBytes').mockResolvedValueOnce(64 * 1024 ** 2);
  await finish(0, 1);
  await uploads.collect();
  await uploads.settle();
  expect(await readdir(folder)).toEqual([]);
  freeBytes.mockResolvedValueOnce(64 * 1024 ** 2 - 1);
  await finish(1, 2);
  await expect(uploads.finish()).rejects.toMatchObject({ code: 'internal_error', retryable: true });
});

test('uploads are behind while many segments wait for the object store', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { uploads, failures } = uploadsTo(gate, 100);
  await finish(0, 34);
  await uploads.collect();
  expect(uploads.isBehind).toBe(false);
  await finish(34, 35);
  await uploads.collect();
  expect(uploads.isBehind).toBe(true);
  open();
  const stored = await uploads.finish();
  expect(stored.get('360p')).toHaveLength(35);
  expect(uploads.isBehind).toBe(false);
  expect(failures).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});

test.each(['360p-00.ts', '480p-0.ts', 'audio-0.ts'])(
  '%s beside the segments of one rendition fails the video without a retry',
  async (name) => {
    const { uploads } = uploadsTo(Promise.resolve(), 3);
    await finish(0, 1);
    await copyFile(segment, join(folder, name));
    await uploads.collect();
    await expect(uploads.finish()).rejects.toMatchObject(HOSTILE);
  },
);

test.each([
  ['together', 0, []],
  ['less than a millisecond apart', 89, []],
  ['more than a millisecond apart', 91, [expect.any(InvalidSegmentError)]],
])('segments of two renditions may not start too far apart: %s', async (_, ticks, expected) => {
  const { uploads, failures } = uploadsTo(Promise.resolve(), 3, ['360p', '480p']);
  await finish(0, 1);
  await uploads.collect();
  await uploads.settle();
  const bytes = await readFile(segment);
  const pes = bytes.indexOf(Buffer.from([0, 0, 1, 0xe0]));
  // The low 15 bits of the timestamp, and a marker bit.
  bytes.writeUInt16BE(bytes.readUInt16BE(pes + 12) + 2 * ticks, pes + 12);
  await writeFile(join(folder, '480p-0.ts'), bytes);
  await uploads.collect();
  await uploads.settle();
  expect(failures).toEqual(expected);
});

test('a copied rendition may not change its parameter sets from one segment to the next', async () => {
  const { uploads } = uploadsTo(Promise.resolve(), 3, ['360p'], null, ['360p']);
  await finish(0, 2);
  await uploads.collect();
  await uploads.settle();
  const bytes = await readFile(segment);
  // The constraint flags, after the start code, the type of the NAL unit and the profile.
  bytes.writeUInt8(0x08, bytes.indexOf('00000167', 0, 'hex') + 5);
  await writeFile(join(folder, '360p-2.ts'), bytes);
  await expect(uploads.finish()).rejects.toThrow('Segment 2 of 360p has other parameter sets');
});

test('playlists and unfinished segments are not stored', async () => {
  const { uploads, objects } = uploadsTo(Promise.resolve(), 3);
  const store = jest.spyOn(objects, 'putStream');
  await finish(0, 1);
  for (const name of ['360p.m3u8', '360p-1.ts.tmp', 'x-360p-1.ts', 'other-1.ts'])
    await writeFile(join(folder, name), '');
  expect((await uploads.finish()).get('360p')).toHaveLength(1);
  expect(store.mock.calls.map(([key, , { contentType }]) => [key, contentType])).toEqual([
    ['hls/w/v/a1/360p/0.ts', 'video/mp2t'],
  ]);
});

test('an abort is no failure of the segments', async () => {
  const { uploads, failures, abort } = uploadsTo(Promise.resolve(), 3);
  const reason = new Error('The video was deleted');
  abort.abort(reason);
  await finish(0, 1);
  await expect(uploads.finish()).rejects.toBe(reason);
  expect(failures).toEqual([]);
  expect(await readdir(folder)).toEqual(['360p-0.ts']);
});

test('a failure after an abort is not reported', async () => {
  const { promise: gate, reject: fail } = Promise.withResolvers<void>();
  const { uploads, failures, objects, abort } = uploadsTo(gate, 3);
  const store = jest.spyOn(objects, 'putStream');
  await finish(0, 1);
  await uploads.collect();
  await until(() => store.mock.calls.length === 1);
  abort.abort(new Error('The video was deleted'));
  fail(new Error('ECONNRESET'));
  await expect(uploads.finish()).rejects.toThrow('The video was deleted');
  expect(failures).toEqual([]);
});

test('an unreadable segment is retryable, and reported once', async () => {
  const { uploads, failures } = uploadsTo(Promise.resolve(), 3);
  output.file = () => Promise.reject(new Error('EIO'));
  await finish(0, 2);
  const message = 'The engine could not read the segments. Retry the video later.';
  await expect(uploads.finish()).rejects.toMatchObject({ code: 'internal_error', retryable: true, message });
  expect(failures).toHaveLength(1);
});

test('a segment that disappears fails the video without a retry', async () => {
  const { uploads } = uploadsTo(Promise.resolve(), 3);
  output.file = async () => null;
  await finish(0, 1);
  await expect(uploads.finish()).rejects.toMatchObject(HOSTILE);
});

test('a segment that becomes shorter fails the video without a retry', async () => {
  const { uploads, objects } = uploadsTo(Promise.resolve(), 3);
  const store = objects.putStream;
  objects.putStream = async (...request) => {
    const { bytes } = await store(...request);
    return { bytes: bytes - 16 };
  };
  await finish(0, 1);
  await expect(uploads.finish()).rejects.toMatchObject(HOSTILE);
});

test('a complete segment without a first timestamp fails the video without a retry', async () => {
  const { uploads } = uploadsTo(Promise.resolve(), 3);
  const bytes = await readFile(segment);
  // The first PES packet of PID 0x100, and its flags for timestamps.
  const packet = bytes.indexOf(Buffer.from([0x47, 0x41, 0x00]));
  const flags = bytes.indexOf(Buffer.from([0, 0, 1, 0xe0]), packet) + 7;
  bytes[flags] = (bytes[flags] ?? 0) & 0x3f;
  await writeFile(join(folder, '360p-0.ts'), bytes);
  await expect(uploads.finish()).rejects.toMatchObject(HOSTILE);
});

describe('damaged audio', () => {
  const RETRYABLE = { code: 'internal_error', retryable: true };

  /** Uploads a segment of audio that `damage` has changed, and returns the failure. */
  async function failureOf(damage: (bytes: Buffer) => void, copied: RenditionName[]) {
    const clip = await makeClip(join(directory, 'audio.ts'), {
      audio: 'sine=d=0.2',
      options: ['-c:a', 'aac'],
    });
    const bytes = await readFile(clip);
    damage(bytes);
    const { uploads } = uploadsTo(Promise.resolve(), 3, ['audio'], null, copied);
    await writeFile(join(folder, 'audio-0.ts'), bytes);
    return uploads.finish().then(
      () => null,
      (error: unknown) => error,
    );
  }

  const lastFrameIncomplete = (bytes: Buffer) => {
    const lengthAt = bytes.lastIndexOf(Buffer.from([0xff, 0xf1])) + 3;
    // The frame length of ADTS ends five bits before the end of these three bytes.
    bytes.writeUIntBE(bytes.readUIntBE(lengthAt, 3) + (8 << 5), lengthAt, 3);
  };
  const packetMissing = (bytes: Buffer) => void bytes.fill(0, bytes.length - 188);

  test('may come from the source only if it is a stream copy and its last frame is incomplete', async () => {
    expect(await failureOf(() => {}, [])).toBeNull();
    expect(await failureOf(lastFrameIncomplete, ['audio'])).toBeInstanceOf(InvalidSegmentError);
    expect(await failureOf(lastFrameIncomplete, [])).toMatchObject(RETRYABLE);
    expect(await failureOf(packetMissing, ['audio'])).toMatchObject(RETRYABLE);
  });
});

const IMAGE = Buffer.from('ffd8ffffd9', 'hex');
const ATTEMPT = { workspaceId: 'w', videoId: 'v', attempt: 1, folder: 't0.1/' };

/** Stores the poster and the storyboard of a video of one second. */
function storing(objects: FileObjectStore) {
  const images = planImages({ width: 16, height: 16 }, 1, 0.96);
  return storeImages(
    output,
    { images },
    {
      objects,
      prefix: outputPrefix(ATTEMPT),
      signal: new AbortController().signal,
    },
  );
}

test('images are stored and described', async () => {
  const { objects } = uploadsTo(Promise.resolve(), 3);
  for (const name of ['poster.jpg', 'storyboard.jpg']) await writeFile(join(folder, name), IMAGE);
  const put = jest.spyOn(objects, 'put');
  expect(await storing(objects)).toEqual({
    poster: { bytes: 5 },
    storyboard: { bytes: 5, width: 160, height: 160, columns: 1, tiles: 1, interval: 1 },
  });
  expect(put).toHaveBeenCalledWith('hls/w/v/a1/t0.1/poster.jpg', IMAGE, 'image/jpeg');
});

test('a missing or empty image does not fail the video', async () => {
  const { objects } = uploadsTo(Promise.resolve(), 3);
  await writeFile(join(folder, 'storyboard.jpg'), '');
  expect(await storing(objects)).toEqual({ poster: null, storyboard: null });
});

test.each([
  ['truncated', 'ffd8ffff', { name: 'TranscodeFailure', retryable: true }],
  ['not a JPEG image', '89504e47ffd9', { name: 'ToolOutputError' }],
])('no image is stored if one is %s', async (_, bytes, error) => {
  const { objects } = uploadsTo(Promise.resolve(), 3);
  await writeFile(join(folder, 'poster.jpg'), IMAGE);
  await writeFile(join(folder, 'storyboard.jpg'), Buffer.from(bytes, 'hex'));
  const put = jest.spyOn(objects, 'put');
  await expect(storing(objects)).rejects.toMatchObject(error);
  expect(put).not.toHaveBeenCalled();
});

test('no image is stored after another image could not be stored', async () => {
  const { objects } = uploadsTo(Promise.resolve(), 3);
  for (const name of ['poster.jpg', 'storyboard.jpg']) await writeFile(join(folder, name), IMAGE);
  const put: string[] = [];
  objects.put = async (key) => {
    put.push(key);
    throw Object.assign(new Error('Full'), { code: 'ENOSPC' });
  };
  await expect(storing(objects)).rejects.toMatchObject({ code: 'internal_error' });
  expect(put).toEqual(['hls/w/v/a1/t0.1/poster.jpg']);
});
