/** A resolution that the master playlist offers. */
export type Rendition = {
  /** Pixels, e.g. `640x360`; null if the playlist does not say. */
  resolution: string | null;
  frameRate: number | null;
  /** Peak and average in bits per second. */
  bandwidth: number;
  averageBandwidth: number | null;
  codecs: string[];
};

/**
 * The variants of a master playlist (RFC 8216 §4.3.4.2), highest bandwidth first: one for each resolution in each codec. With surround sound, a
 * playlist has each of them once for each group of audio; the last of them is listed.
 */
export function readRenditions(playlist: string): Rendition[] {
  const renditions = playlist
    .split('\n')
    .filter((line) => line.startsWith('#EXT-X-STREAM-INF:'))
    .map((line) => toRendition(readAttributes(line.slice(line.indexOf(':') + 1))));
  const byVideo = new Map(renditions.map((each) => [`${each.resolution} ${each.codecs[0]}`, each]));
  return [...byVideo.values()].sort((a, b) => b.bandwidth - a.bandwidth);
}

function toRendition(attributes: ReadonlyMap<string, string>): Rendition {
  const number = (name: string) => (attributes.has(name) ? Number(attributes.get(name)) : null);
  return {
    resolution: attributes.get('RESOLUTION') ?? null,
    frameRate: number('FRAME-RATE'),
    bandwidth: number('BANDWIDTH') ?? 0,
    averageBandwidth: number('AVERAGE-BANDWIDTH'),
    codecs: attributes.get('CODECS')?.split(',') ?? [],
  };
}

function readAttributes(list: string): Map<string, string> {
  const pairs = list.matchAll(/([A-Z0-9-]+)=?("[^"]*"|[^",]*)/g);
  return new Map([...pairs].map(([, name = '', value = '']) => [name, value.replaceAll('"', '')]));
}
