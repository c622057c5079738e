import { previewUrl, thumbnailUrl, type Video } from '@framelane/client';
import { Copy } from '../ui/copy.tsx';
import { Section } from '../ui/section.tsx';
import { DeveloperUrls } from './developer-urls.tsx';
import { PlaybackLink } from './playback-link.tsx';
import { isPlayable } from './queries.ts';
import { WatchLink } from './watch-link.tsx';

/** Whether there is a frame at the times of the examples. */
function hasPictures({ status, audioOnly, duration }: Video): boolean {
  return status === 'ready' && audioOnly === false && (duration ?? 0) > 3;
}

/** The link for viewers, then the URLs for programs. */
export function ShareSection({ video }: { video: Video }) {
  if (video.playbackPolicy === 'signed') {
    return (
      <Section title="Link to watch">
        {isPlayable(video) ? (
          <PlaybackLink video={video} />
        ) : (
          <p className="hint">
            This video plays only with a link that expires. Create one when it can be played.
          </p>
        )}
      </Section>
    );
  }
  return (
    <div className="share-section">
      <Section title="Link to watch">
        <p className="hint">Anyone with this link can watch, without signing in.</p>
        <WatchLink url={video.embed} />
      </Section>
      <PublicUrls video={video} />
    </div>
  );
}

function PublicUrls({ video }: { video: Video }) {
  const { thumbnail } = video;
  const hls = video.hls ?? video.preview?.hls;
  if (hls === undefined && thumbnail === null) return null;
  return (
    <DeveloperUrls>
      {hls !== undefined && <Copy label="Playlist (HLS)" value={hls} />}
      {thumbnail !== null && <Copy label="Poster" value={thumbnail} />}
      {hls !== undefined && hasPictures(video) && (
        <>
          <Copy label="A frame, such as that at 3 s" value={thumbnailUrl({ hls }, { time: 3, width: 640 })} />
          <Copy label="Moving preview" value={previewUrl({ hls }, { start: 3 })} />
        </>
      )}
    </DeveloperUrls>
  );
}
