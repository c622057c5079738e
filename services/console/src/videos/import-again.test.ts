import type { Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { canImportAgain, importAgain } from './import-again.ts';

const FAILED = {
  status: 'failed',
  retryable: false,
  import: { url: 'https://a.example/clip.mp4' },
  sourceFile: { stored: false },
  filename: 'clip.mp4',
  title: 'Clip',
  metadata: { a: 'b' },
  tags: ['t'],
  playbackPolicy: 'signed',
  keepSource: 3,
  packaging: 'cmaf',
  passthrough: null,
  allowedOrigins: null,
  audioOnly: false,
  hdr: 'sdr',
  watermark: null,
  trim: null,
  codecs: [],
  downloads: [],
  autoCaptions: [],
} as unknown as Video;

test('an import that failed before its file was complete can be imported again', () => {
  expect(canImportAgain(FAILED)).toBe(true);
  expect(canImportAgain({ ...FAILED, status: 'uploading' })).toBe(false);
  expect(canImportAgain({ ...FAILED, import: null })).toBe(false);
  expect(canImportAgain({ ...FAILED, sourceFile: { ...FAILED.sourceFile, stored: true } })).toBe(false);
});

test('the new import asks for all that the failed one asked for', () => {
  const request = {
    url: 'https://a.example/clip.mp4',
    filename: 'clip.mp4',
    title: 'Clip',
    metadata: { a: 'b' },
    tags: ['t'],
    playbackPolicy: 'signed',
    keepSource: 3,
    packaging: 'cmaf',
    hdr: 'sdr',
  };
  expect(importAgain(FAILED)).toEqual(request);
  const details = {
    passthrough: 'p',
    allowedOrigins: ['https://b.example'],
    audioOnly: true,
    watermark: { image: 'wmk_1', corner: 'top-left', opacity: 1, width: 0.2, margin: 0.1 } as const,
    trim: { start: 1, end: null },
  };
  expect(importAgain({ ...FAILED, ...details })).toEqual({ ...request, ...details });
  const outputs = {
    codecs: [{ codec: 'h264' }, { codec: 'av1' }],
    downloads: [{ file: 'highest' }],
    autoCaptions: [{ requestedLanguage: 'en' }],
  } as unknown as Video;
  expect(importAgain({ ...FAILED, ...outputs })).toEqual({
    ...request,
    codecs: ['h264', 'av1'],
    downloads: ['highest'],
    autoCaptions: ['en'],
  });
  const detected = { autoCaptions: [{ requestedLanguage: null }] } as unknown as Video;
  expect(importAgain({ ...FAILED, ...detected }).autoCaptions).toBe(true);
});
