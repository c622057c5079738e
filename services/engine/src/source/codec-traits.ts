/** Whether a codec stores each field as a frame of its own. Decoders mark those frames as interlaced, but there is nothing to deinterlace. */
export function storesFields(codec: string): boolean {
  return codec === 'hevc';
}

/** Whether frames of a codec may repeat a field, as film in 3:2 pulldown does. */
export function mayRepeatFields(codec: string): boolean {
  return codec === 'mpeg2video';
}

/** Whether ffmpeg shows frames that refer to missing ones, in grey. For other codecs it begins at a key frame (measured with 5.1 and 7.1). */
export function showsIncompleteFrames(codec: string): boolean {
  return codec === 'hevc';
}
