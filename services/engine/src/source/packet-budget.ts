import { refusal } from '../transcode-failure.ts';

/** Packets of all tracks per second of the maximum duration: 240 of video, and several tracks of short audio frames. */
const PACKETS_PER_SECOND = 1000;
/**
 * Sample tables may refer to the same bytes many times, and Matroska may compress packets. The total size of all packets
 * may be this many times the size of the file, plus a fixed allowance.
 */
const BYTES_PER_FILE_BYTE = 4;
const EXTRA_BYTES = 64 * 1024 ** 2;

/** Limits the number and the total size of packets while they are read: a small file can declare any number of them. */
export class PacketBudget {
  #packets: number;
  #bytes: number;

  /** @param fileBytes size of the file */
  constructor(fileBytes: number, maxDurationSeconds: number) {
    this.#packets = maxDurationSeconds * PACKETS_PER_SECOND;
    this.#bytes = fileBytes * BYTES_PER_FILE_BYTE + EXTRA_BYTES;
  }

  /** Counts a packet of any track. Throws a refusal when there are too many packets, or they are too large. */
  spend(bytes: number): void {
    this.#packets -= 1;
    this.#bytes -= bytes || 0;
    if (this.#packets < 0) {
      throw refusal('malformed_media', 'The file has too many packets. Export it again and upload that.');
    }
    if (this.#bytes < 0) {
      throw refusal(
        'malformed_media',
        'The packets are much larger than the file itself. Export it again and upload that.',
      );
    }
  }
}
