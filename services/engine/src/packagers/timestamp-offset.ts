/**
 * Added to all timestamps to make them positive: ffmpeg would shift negative ones by an amount that it chooses itself. The first
 * decoding timestamps of video with B-frames and of AAC are negative, by different amounts.
 */
export const TIMESTAMP_OFFSET_SECONDS = 10;
