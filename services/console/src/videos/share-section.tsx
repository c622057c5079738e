import { previewUrl, thumbnailUrl, type Video } from '@framelane/client';
import { API_URL } from '../paths.ts';
import { Copy } from '../ui/copy.tsx';
import { Section } from '../ui/section.tsx';
import { PlaybackLink } from './playback-link.tsx';
import { isPlayable } from './queries.ts';
import { playerHtml } from './share-text.ts';

/** Whether there is a frame at the times of the examples. */
function hasPictures({ status, audioOnly, duration }: Video): boolean {
  return status === 'ready' && audioOnly === false && (duration ?? 0) > 3;
}

/** URLs and code for sites and programs. */
export function ShareSection({ video }: { video: Video }) {
  const { id, title, embed, thumbnail, workspaceId, playbackPolicy } = video;
  const hls = video.hls ?? video.preview?.hls;
  const isSigned = playbackPolicy === 'signed';
  const command = `curl ${API_URL}/videos/${id} \\\n  -H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspaceId}'`;
  return (
    <Section title="Share">
      {isSigned && isPlayable(video) && <PlaybackLink video={video} />}
      {isSigned && !isPlayable(video) && (
        <p className="hint">
          This video plays only with a link that expires. Create one when it can be played.
        </p>
      )}
      {!isSigned && (
        <>
          <Copy label="Player page" value={embed} />
          <Copy label="HTML for a site" value={playerHtml(embed, title, video)} />
          {hls !== undefined && <Copy label="Playlist (HLS)" value={hls} />}
          {thumbnail !== null && <Copy label="Poster" value={thumbnail} />}
          {hls !== undefined && hasPictures(video) && (
            <>
              <Copy
                label="A frame, such as that at 3 s"
                value={thumbnailUrl({ hls }, { time: 3, width: 640 })}
              />
              <Copy label="Moving preview" value={previewUrl({ hls }, { start: 3 })} />
            </>
          )}
        </>
      )}
      <Copy label="Video id" value={id} />
      <Copy label="Record, with an API key in KEY" value={command} />
    </Section>
  );
}
