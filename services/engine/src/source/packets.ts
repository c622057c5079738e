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

type ProbedPacket = Partial<Record<'pts_time' | 'dts_time' | 'duration_time' | 'size' | 'pos', string>> & {
  stream_index: number;
  flags: string;
  side_data_list?: readonly { side_data_type?: string }[];
};

/** Reads ffprobe's list in JSON. No schema checks it: that would take ten times as long. */
export function readPacketList(described: unknown): PacketList {
  const { packets, format } = described as { packets: ProbedPacket[]; format: { nb_streams: number } };
  return {
    packets: packets.map((packet) => ({
      index: packet.stream_index,
      pts: Number(packet.pts_time),
      dts: Number(packet.dts_time),
      duration: Number(packet.duration_time),
      bytes: Number(packet.size),
      at: Number(packet.pos),
      flags: packet.flags,
      sideData: (packet.side_data_list ?? []).map(({ side_data_type = '' }) => side_data_type),
    })),
    trackCount: format.nb_streams,
  };
}
