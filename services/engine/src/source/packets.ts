import { z } from 'zod';

/** A packet as ffprobe describes it. Numbers are NaN if unknown; times are in seconds of the file. */
export type Packet = {
  /** The index of its track. */
  index: number;
  pts: number;
  dts: number;
  duration: number;
  bytes: number;
  /** Its position in the file, in bytes. */
  at: number;
  /** Letters such as `K` for a key frame and `D` for a packet that is not shown. */
  flags: string;
  /** The types of its side data. */
  sideData: readonly string[];
};

/** All packets of a file. */
export type PacketList = {
  packets: readonly Packet[];
  /** The number of tracks that ffprobe knows at the end of the file. */
  trackCount: number;
};

/** The ffprobe entries that `readLine` and `readPacketList` read. */
export const PACKET_ENTRIES =
  'packet=stream_index,pts_time,dts_time,duration_time,size,pos,flags:packet_side_data=side_data_type:format=nb_streams';

/** Reads a line of ffprobe's list in CSV: a packet, or the number of tracks, which comes last. Null for the empty lines that side data may add. */
export function readLine(line: string): Packet | { trackCount: number } | null {
  // ffprobe has its own order of columns.
  const [first = '', pts, dts, duration, size, at, flags, ...sideData] = line.split(',');
  if (pts === undefined) return Number(first) ? { trackCount: Number(first) } : null;
  if (flags === undefined) return null;
  return {
    index: Number(first),
    pts: Number(pts),
    dts: Number(dts),
    duration: Number(duration),
    bytes: Number(size),
    at: Number(at),
    flags,
    sideData,
  };
}

const number = z.coerce.number().catch(Number.NaN).default(Number.NaN);

const probedPackets = z.object({
  packets: z.array(
    z.object({
      stream_index: z.int(),
      pts_time: number,
      dts_time: number,
      duration_time: number,
      size: number,
      pos: number,
      flags: z.string(),
      side_data_list: z.array(z.object({ side_data_type: z.string().default('') })).default([]),
    }),
  ),
  format: z.object({ nb_streams: z.int() }),
});

/** Reads ffprobe's list in JSON. Throws if it does not have the expected form. */
export function readPacketList(described: unknown): PacketList {
  const { packets, format } = probedPackets.parse(described);
  return {
    packets: packets.map((packet) => ({
      index: packet.stream_index,
      pts: packet.pts_time,
      dts: packet.dts_time,
      duration: packet.duration_time,
      bytes: packet.size,
      at: packet.pos,
      flags: packet.flags,
      sideData: packet.side_data_list.map(({ side_data_type }) => side_data_type),
    })),
    trackCount: format.nb_streams,
  };
}
