import { AudioTrack } from './audio-track.ts';
import { H264 } from './h264.ts';
import { nalUnits } from './nal-units.ts';
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
import type { Counters, SegmentContent } from './segment-content.ts';
import { PacketReader, type TransportPacket } from './transport-packets.ts';
import { VideoTrack } from './video-track.ts';

/** Null packets. Their counters have no meaning (ISO/IEC 13818-1 §2.4.3.3). */
const NULL_PID = 0x1fff;

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
      transport: {
        hasPat: this.#patSeen,
        hasPmt: this.#pmtSeen,
        damagedTables: [...this.#damagedTables],
        counters: [...this.#counters.values()].map(({ repeated: _, ...counters }) => counters),
      },
      fragments: null,
      beginsDamaged: this.#beginsDamaged,
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
      const video = new VideoTrack(pid, H264);
      this.#video = video;
      this.#tracks.set(pid, {
        pes: new PesReader(),
        add: (packet) => video.add(packet, nalUnits(packet.data)),
      });
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
