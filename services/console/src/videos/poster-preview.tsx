import { useReducedMotion } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { readTiles, spread } from '../ui/storyboard-tiles.ts';
import { TileView } from '../ui/tile-view.tsx';

/** How many pictures of a video are shown, and how long each. */
const PICTURES = 12;
const PICTURE_MS = 500;

/** The most pixels in each direction. */
const MAX_WIDTH = 240;
const MAX_HEIGHT = 180;

/** Pictures from all over a video, one after the other; a single one for people who want no motion. Only a look, so readers do not hear of it. */
export function PosterPreview({ storyboard }: { storyboard: string }) {
  const { data: tiles = [] } = useQuery({
    queryKey: ['storyboard', storyboard],
    queryFn: async ({ signal }) => {
      const response = await fetch(storyboard, { signal });
      // The poster stays if the storyboard cannot be read.
      return response.ok ? spread(readTiles(await response.text(), storyboard), PICTURES) : [];
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isStill = useReducedMotion();
  const [at, setAt] = useState(0);
  useEffect(() => {
    if (isStill || tiles.length < 2) return;
    const timer = setInterval(() => setAt((before) => (before + 1) % tiles.length), PICTURE_MS);
    return () => clearInterval(timer);
  }, [isStill, tiles.length]);
  const tile = isStill ? tiles[Math.floor(tiles.length / 2)] : tiles[at];
  if (tile === undefined) return null;
  return (
    <div className="poster-preview">
      <TileView tile={tile} maxWidth={MAX_WIDTH} maxHeight={MAX_HEIGHT} />
    </div>
  );
}
