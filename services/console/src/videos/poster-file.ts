/** The most pixels of a poster in each direction: more than players show. */
const MAX_PIXELS = 1920;

const QUALITY = 0.85;

/**
 * Converts an image in any format that the browser reads to the JPEG that is stored, without the metadata of the file. Throws
 * if it is no image.
 */
export async function posterOf(file: Blob): Promise<Blob> {
  const image = await createImageBitmap(file);
  try {
    const scale = Math.min(1, MAX_PIXELS / Math.max(image.width, image.height));
    const width = Math.max(1, Math.round(image.width * scale));
    const height = Math.max(1, Math.round(image.height * scale));
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) throw new Error('The browser has no canvas.');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return await canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY });
  } finally {
    image.close();
  }
}
