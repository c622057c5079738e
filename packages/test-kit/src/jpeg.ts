/** A JPEG image of this size (ITU-T T.81, B.2), whose coded data is zeros. `bytes` is the whole length. */
export function jpegOf(width: number, height: number, bytes = 200): Buffer {
  const start = [0xff, 0xd8];
  const application = [0xff, 0xe0, 0, 16, ...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0];
  const frame = [0xff, 0xc0, 0, 11, 8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0];
  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0];
  const image = Buffer.alloc(bytes);
  image.set([...start, ...application, ...frame, ...scan]);
  image.set([0xff, 0xd9], bytes - 2);
  return image;
}
