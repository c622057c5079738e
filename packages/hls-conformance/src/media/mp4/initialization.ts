import { type Box, bodyOf, boxesIn, fullBox, requiredBody } from './boxes.ts';
import { readSampleEntry, type SampleEntry } from './sample-entry.ts';

/** A track, as fragments need it. */
export type Mp4Track = {
  id: number;
  /** Units of its times in a second. */
  timescale: number;
  /** Its time at which the presentation begins, by its edit list. */
  firstTime: number;
  entry: SampleEntry;
  /** What samples have of which their fragment says nothing (`trex`). */
  defaults: { duration: number; size: number };
};

/** An initialization section (EXT-X-MAP), and how it breaks RFC 8216 §3.3. */
export type Initialization = { tracks: Mp4Track[]; violations: string[] };

/** Brands that include `iso6` (ISO/IEC 14496-12 annex E), and those of CMAF (ISO/IEC 23000-19 §7.2). */
const BRANDS = /^(?:iso[6-9a-l]|mp4[23]|cmf.|dash|msdh|hlsf)$/;

/** Reads an initialization section. Throws if it cannot be used to read fragments. */
export function readInitialization(bytes: Buffer): Initialization {
  const boxes = boxesIn(bytes);
  const movie = boxesIn(requiredBody(boxes, 'moov'));
  const extensions = bodyOf(movie, 'mvex');
  const defaults = defaultsOf(extensions === undefined ? [] : boxesIn(extensions));
  const tracks = movie
    .filter(({ type }) => type === 'trak')
    .map(({ body }) => readTrack(boxesIn(body), defaults));
  if (tracks.length === 0) throw new Error('there is no track');
  return {
    tracks: tracks.map(({ track }) => track),
    violations: [...orderViolations(boxes, movie), ...tracks.flatMap(({ violations }) => violations)],
  };
}

function orderViolations(boxes: readonly Box[], movie: readonly Box[]): string[] {
  const types = boxes.map(({ type }) => type);
  const inMovie = movie.map(({ type }) => type);
  const brands = brandsOf(bodyOf(boxes, 'ftyp') ?? Buffer.alloc(0));
  const duration = durationOf(requiredBody(movie, 'mvhd'));
  return [
    ...(types.indexOf('ftyp') === -1 || types.indexOf('ftyp') > types.indexOf('moov')
      ? ['has no ftyp before its moov']
      : []),
    ...(brands.some((brand) => BRANDS.test(brand)) ? [] : ['has no brand iso6 or later']),
    ...(inMovie.indexOf('mvex') > inMovie.lastIndexOf('trak') ? [] : ['has no mvex after its tracks']),
    ...(duration === 0 ? [] : [`its movie has a duration of ${duration}`]),
    ...(types.includes('moof') || types.includes('mdat') ? ['has media'] : []),
  ];
}

/** The major brand and the compatible ones. Their number is limited by the box. */
function brandsOf(ftyp: Buffer): string[] {
  const all = [0, ...Array.from({ length: Math.max(0, (ftyp.length - 8) >> 2) }, (_, at) => 8 + 4 * at)];
  return all.map((at) => ftyp.toString('latin1', at, at + 4));
}

/** The duration of a movie header, in its timescale (ISO/IEC 14496-12 §8.2.2). All ones means that it is unknown. */
function durationOf(mvhd: Buffer): number {
  const { version, rest } = fullBox(mvhd);
  if (version === 0) return rest.readUInt32BE(12) % 0xffff_ffff;
  const duration = rest.readBigUInt64BE(20);
  return duration === 0xffff_ffff_ffff_ffffn ? 0 : Number(duration);
}

/** The defaults of each track (§8.8.3). */
function defaultsOf(extensions: readonly Box[]): Map<number, Mp4Track['defaults']> {
  return new Map(
    extensions
      .filter(({ type }) => type === 'trex')
      .map(({ body }) => {
        const { rest } = fullBox(body);
        return [rest.readUInt32BE(0), { duration: rest.readUInt32BE(8), size: rest.readUInt32BE(12) }];
      }),
  );
}

function readTrack(
  boxes: readonly Box[],
  defaults: ReadonlyMap<number, Mp4Track['defaults']>,
): { track: Mp4Track; violations: string[] } {
  const header = fullBox(requiredBody(boxes, 'tkhd'));
  const id = header.rest.readUInt32BE(header.version === 0 ? 8 : 16);
  const media = boxesIn(requiredBody(boxes, 'mdia'));
  const mediaHeader = fullBox(requiredBody(media, 'mdhd'));
  const timescale = mediaHeader.rest.readUInt32BE(mediaHeader.version === 0 ? 8 : 16);
  if (timescale === 0) throw new Error(`track ${id} has no timescale`);
  const table = boxesIn(requiredBody(boxesIn(requiredBody(media, 'minf')), 'stbl'));
  const samples = bodyOf(table, 'stsz');
  const count = samples === undefined ? 0 : fullBox(samples).rest.readUInt32BE(4);
  const own = defaults.get(id);
  const entry = readSampleEntry(requiredBody(table, 'stsd'));
  return {
    track: {
      id,
      timescale,
      firstTime: firstTimeOf(boxes),
      entry,
      defaults: own ?? { duration: 0, size: 0 },
    },
    violations: [
      ...(count === 0 ? [] : [`track ${id} has ${count} samples`]),
      ...(own === undefined ? [`track ${id} has no defaults (trex)`] : []),
      ...(entry.kind === 'video' ? entry.violations : []),
    ],
  };
}

/** The media time of the first edit that is not empty (§8.6.6). */
function firstTimeOf(boxes: readonly Box[]): number {
  const edits = bodyOf(boxes, 'edts');
  const list = edits === undefined ? undefined : bodyOf(boxesIn(edits), 'elst');
  if (list === undefined) return 0;
  const { version, rest } = fullBox(list);
  const [bytes, at] = version === 0 ? [12, 4] : [20, 8];
  const read = (begin: number) =>
    version === 0 ? rest.readInt32BE(begin) : Number(rest.readBigInt64BE(begin));
  for (let edit = 0; edit < rest.readUInt32BE(0); edit += 1) {
    const time = read(4 + edit * bytes + at);
    if (time >= 0) return time;
  }
  return 0;
}
