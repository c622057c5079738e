/** Formats of images. */
type ImageFormat = 'jpg' | 'webp' | 'gif';

/**
 * Options of the filter `scale` that give the frames of a rendition the colours that viewers expect of an image. They take JPEG and WebP for BT.601
 * (JFIF 1.02, RFC 9649 §2.5), whatever the matrix of the rendition is. A GIF has RGB colours, which ffmpeg computes from that matrix.
 */
export const IMAGE_COLOURS: Record<ImageFormat, string> = {
  jpg: 'out_color_matrix=bt601:out_range=full',
  webp: 'out_color_matrix=bt601:out_range=limited',
  gif: '',
};

/** The filters that make frames of any colours those of a JPEG image. */
export const TO_JPEG = `scale=${IMAGE_COLOURS.jpg},format=yuvj420p`;
