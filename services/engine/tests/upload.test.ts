import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sourceKey } from '@framelane/object-store/object-keys';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestEngine, type TestEngine } from './support/test-engine.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(async () => {
  await engine.stop();
});

describe('an upload', () => {
  test('rests in the store byte for byte and is reported with its size and hash', async () => {
    const { token, videoId, workspaceId } = engine.controlPlane.issue();
    const file = randomBytes(3 * 1024 * 1024 + 7);
    const form = new FormData();
    form.append('file', new Blob([file], { type: 'video/mp4' }), 'My clip.mp4');
    const answer = await fetch(`${engine.url}/upload`, {
      method: 'POST',
      headers: { 'X-Upload-Token': token },
      body: form,
    });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({
      videoId,
      status: 'processing',
      size: file.byteLength,
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const stored = await readFile(join(engine.root, 'objects', sourceKey(workspaceId, videoId)));
    expect(stored.equals(file)).toBe(true);
    expect(engine.events('upload.completed').map(({ data }) => data)).toContainEqual({
      videoId,
      transferId: expect.any(String),
      bytes: file.byteLength,
      sha256: createHash('sha256').update(file).digest('hex'),
      contentType: 'video/mp4',
      fileName: 'My clip.mp4',
    });
  });
});
