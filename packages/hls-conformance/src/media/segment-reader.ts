import { type AudioContent, AudioTrack } from './audio-track.ts';
import { type PesPacket, PesReader } from './pes-packets.ts';
import {
  PAT_PID,
  programMapPid,
  programStreams,
  SDT_PID,
  STREAM_TYPE,
  type Table,
  TableReader,
} from './program-tables.ts';
import { PacketReader, type TransportPacket } from './transport-packets.ts';
import { type VideoContent, VideoTrack } from './video-track.ts';

/** Continuity counters of one packet identifier in a segment. */
export type Counters = { pid: number; first: number; last: number; breaks: number };

/** The measurements of a segment, up to the first error. */
export type SegmentContent = {
  /** Why it could not be read to its end; null if it was. */
  damage: string | null;
  /** Whether there is a program association table. */
  hasPat: boolean;
  /** Whether a program map table precedes all video and audio. */
  hasPmt: boolean;
  /** Packet identifiers of tables whose checksum is wrong. */
  damagedTables: number[];
  /**
   * Whether a table with a wrong checksum is in the first packet of the segment. Decryption with a wrong initialization vector (IV)
   * damages only that packet.
   */
  beginsDamaged: boolean;
  counters: Counters[];
  video: VideoContent | null;
  /** Null also if `damage` is not null. */
  audio: AudioContent | null;
  /** Types of the streams that are not read. */
  otherStreamTypes: number[];
};

/** Null packets. Their counters have no meaning (ISO/IEC 13818-1 §2.4.3.3). */
const NULL_PID = 0x1fff;

/** Whether the measurements include all frames: the segment could be read to its end, and no frame precedes its tables. */
export function isWhole({ damage, hasPat, hasPmt }: SegmentContent): boolean {
  return damage === null && hasPat && hasPmt;
}

type Track = { pes: PesReader; add(packet: PesPacket): void };

/** Parses a transport stream segment in chunks. Keeps at most one PES packet of each stream in memory. */
export class SegmentReader {
  readonly #packets = new PacketReader();
  readonly #counters = new Map<number, Counters & { repeated: boolean }>();
  readonly #tracks = new Map<number, Track>();
  readonly #tables = new Map([
    [PAT_PID, new TableReader()],
    [SDT_PID, new TableReader()],
  ]);
  readonly #damagedTables = new Set<number>();
  readonly #otherStreamTypes = new Set<number>();
  #damage: string | null = null;
  #packetsRead = 0;
  #beginsDamaged = false;
  #patSeen = false;
  #pmtSeen = false;
  #video: VideoTrack | null = null;
  #audio: AudioTrack | null = null;

  push(chunk: Buffer): void {
    this.#unlessDamaged(() => {
      for (const packet of this.#packets.push(chunk)) this.#read(packet);
    });
  }

  /** Ends the segment and returns its measurements. */
  end(): SegmentContent {
    this.#unlessDamaged(() => {
      this.#packets.end();
      for (const track of this.#tracks.values()) {
        const last = track.pes.end();
        if (last) track.add(last);
      }
    });
    return {
      hasPat: this.#patSeen,
      hasPmt: this.#pmtSeen,
      damagedTables: [...this.#damagedTables],
      beginsDamaged: this.#beginsDamaged,
      counters: [...this.#counters.values()].map(({ repeated: _, ...counters }) => counters),
      video: this.#video?.content() ?? null,
      audio: this.#unlessDamaged(() => this.#audio?.content() ?? null) ?? null,
      otherStreamTypes: [...this.#otherStreamTypes],
      damage: this.#damage,
    };
  }

  #unlessDamaged<T>(read: () => T): T | undefined {
    if (this.#damage !== null) return undefined;
    try {
      return read();
    } catch (error) {
      // Lengths that exceed a packet cause RangeErrors.
      this.#damage = error instanceof Error ? error.message : String(error);
      return undefined;
    }
  }

  #read(packet: TransportPacket): void {
    this.#packetsRead += 1;
    if (packet.pid === NULL_PID) return;
    this.#count(packet);
    const table = this.#tables.get(packet.pid)?.push(packet);
    if (table) this.#readTable(packet.pid, table);
    const track = this.#tracks.get(packet.pid);
    const complete = track?.pes.push(packet);
    if (complete) track?.add(complete);
  }

  #readTable(pid: number, table: Table): void {
    if (!table.intact) {
      this.#damagedTables.add(pid);
      this.#beginsDamaged ||= this.#packetsRead === 1;
    } else if (pid === PAT_PID) {
      this.#patSeen = true;
      const mapPid = programMapPid(table);
      if (mapPid !== null && !this.#tables.has(mapPid)) this.#tables.set(mapPid, new TableReader());
    } else if (pid !== SDT_PID) {
      const streams = programStreams(table);
      // Streams that begin before their table cannot be decoded.
      if (!this.#pmtSeen) this.#pmtSeen = ![...streams.keys()].some((stream) => this.#counters.has(stream));
      for (const [streamPid, type] of streams) this.#open(streamPid, type);
    }
  }

  #open(pid: number, type: number): void {
    if (this.#tracks.has(pid)) return;
    if (type === STREAM_TYPE.h264 && this.#video === null) {
      this.#video = new VideoTrack(pid);
      this.#tracks.set(pid, { pes: new PesReader(), add: this.#video.add.bind(this.#video) });
    } else if (type === STREAM_TYPE.aac && this.#audio === null) {
      this.#audio = new AudioTrack(pid);
      this.#tracks.set(pid, { pes: new PesReader(), add: this.#audio.add.bind(this.#audio) });
    } else this.#otherStreamTypes.add(type);
  }

  /** Counters increase with each payload. A packet may be sent twice (ISO/IEC 13818-1 §2.4.3.3). */
  #count({ pid, counter, counterMayJump, payload }: TransportPacket): void {
    const known = this.#counters.get(pid);
    if (known === undefined) {
      this.#counters.set(pid, { pid, first: counter, last: counter, breaks: 0, repeated: false });
      return;
    }
    const repeats = payload.length > 0 && counter === known.last && !known.repeated;
    const expected = (known.last + (payload.length > 0 ? 1 : 0)) % 16;
    if (counter !== expected && !repeats && !counterMayJump) known.breaks += 1;
    known.repeated = repeats;
    known.last = counter;
  }
}
