import { expect, test } from '@jest/globals';
import { formatOf, languageIn, readCaptionsFile } from './captions-file.ts';

test('a file is read only if it is UTF-8', async () => {
  expect(await readCaptionsFile(new File(['WEBVTT\n\nGrüße'], 'clip.de.vtt'))).toEqual({
    name: 'clip.de.vtt',
    text: 'WEBVTT\n\nGrüße',
    format: 'webvtt',
  });
  const latin1 = new File([Buffer.from('Grüße', 'latin1')], 'a.srt');
  // In mutation tests, jest has a realm of its own, and `toThrow` does not know an error of another one.
  const error = await readCaptionsFile(latin1).catch((thrown: unknown) => thrown);
  expect(String(error)).toContain('TypeError');
});

test('format and language of a name', () => {
  expect(['a.VTT', 'a.srt', 'a.txt'].map(formatOf)).toEqual(['webvtt', 'subrip', undefined]);
  expect(
    ['clip.pt-BR.vtt', 'clip_en.srt', 'clip.English.srt', 'clip.final.vtt', 'clip.vtt', 'a.b'].map(
      languageIn,
    ),
  ).toEqual(['pt-BR', 'en', 'en', '', '', '']);
});
