import { refusal } from '../transcode-failure.ts';

/** Packets of all tracks together for each second of the longest video: 240 of video, and several tracks of short audio frames. */
const PACKETS_PER_SECOND = 1000;
/**
 * Sample tables may point at the same bytes many times, and Matroska may compress packets. Packets of all tracks together may
 * be this many times as large as the file, and this much larger.
 */
const BYTES_PER_FILE_BYTE = 4;
const SPARE_BYTES = 64 * 1024 ** 2;

/** Bounds what the packets of a file may amount to while they are read: a small file can claim any number of them. */
export class PacketBudget {
  #packets: number;
  #bytes: number;

  /** @param fileBytes size of the file */
  constructor(fileBytes: number, maxDurationSeconds: number) {
    this.#packets = maxDurationSeconds * PACKETS_PER_SECOND;
    this.#bytes = fileBytes * BYTES_PER_FILE_BYTE + SPARE_BYTES;
  }

  /** Counts a packet of any track. Throws a refusal when there are too many, or they are too large. */
  spend(bytes: number): void {
    this.#packets -= 1;
    this.#bytes -= bytes || 0;
    if (this.#packets < 0) throw refusal('malformed_media', 'The file has too many packets.');
    if (this.#bytes < 0) {
      throw refusal('malformed_media', 'The packets of the file are much larger than the file itself.');
    }
  }
}
