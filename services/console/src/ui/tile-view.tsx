import type { Tile } from './storyboard-tiles.ts';
import './tile-view.css';

type TileViewProps = { tile: Tile; maxWidth: number; maxHeight: number };

/** A picture of a storyboard, as large as fits. Only a look, so readers do not hear of it. */
export function TileView({ tile: { image, x, y, width, height }, maxWidth, maxHeight }: TileViewProps) {
  const scale = Math.min(maxWidth / width, maxHeight / height);
  return (
    <div className="tile" style={{ width: width * scale, height: height * scale }} aria-hidden>
      <img src={image} alt="" style={{ transform: `scale(${scale}) translate(${-x}px, ${-y}px)` }} />
    </div>
  );
}
