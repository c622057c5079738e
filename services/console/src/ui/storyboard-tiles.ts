/** A part of the storyboard image, in its pixels. */
export type Tile = { image: string; x: number; y: number; width: number; height: number };

/** Reads the tiles of a storyboard: lines such as `storyboard.jpg#xywh=160,0,160,90`, relative to the URL of the storyboard. */
export function readTiles(vtt: string, storyboardUrl: string): Tile[] {
  return vtt.split('\n').flatMap((line) => {
    const [, name, ...numbers] = /^([^#\s]+)#xywh=(\d+),(\d+),(\d+),(\d+)$/.exec(line.trim()) ?? [];
    const [x = 0, y = 0, width = 0, height = 0] = numbers.map(Number);
    if (name === undefined || width === 0 || height === 0) return [];
    return [{ image: new URL(name, storyboardUrl).href, x, y, width, height }];
  });
}

/** At most `count` tiles from all over the video, in order. */
export function spread<Each>(tiles: readonly Each[], count: number): Each[] {
  if (tiles.length <= count) return [...tiles];
  return Array.from({ length: count }, (_, at) => tiles[Math.floor((at * tiles.length) / count)] as Each);
}
