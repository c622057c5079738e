import { open } from 'node:fs/promises';
import { refusal } from '../transcode-failure.ts';
import { boxesIn } from './boxes.ts';

/** An image has few boxes. A file with more is no image, or is refused for other reasons. */
const MAX_BOXES = 16;

/**
 * Throws a refusal if a file is an image (HEIF, such as HEIC and AVIF): it describes items (ISO/IEC 14496-12 §8.11), and no movie. Some versions
 * of ffmpeg read items as tracks of a single frame, and the tiles of a large image as a track each. Image sequences have a movie, and are video.
 */
export async function checkIsNoImage(path: string): Promise<void> {
  const file = await open(path);
  try {
    const types: string[] = [];
    for await (const { type } of boxesIn(file, 0, (await file.stat()).size)) {
      types.push(type);
      if (types[0] !== 'ftyp' || type === 'moov' || types.length > MAX_BOXES) return;
    }
    if (!types.includes('meta')) return;
  } finally {
    await file.close();
  }
  throw refusal('not_a_video', 'The file is an image. Upload a video.');
}
