import type { Video } from '@framelane/client';
import { useEffect, useRef, useState } from 'react';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { shapeOf } from './player-shape.ts';
import { usePlaybackToken } from './queries.ts';

/** The player page of a video that can be played, in a frame, which another revision replaces. */
export function Player({ video, revision }: { video: Video; revision: number }) {
  const { data: token, error, refetch } = usePlaybackToken(video);
  const isSigned = video.playbackPolicy === 'signed';
  // A failed renewal leaves a token that still plays.
  if (error !== null && token === undefined) return <ErrorAlert error={error} retry={() => void refetch()} />;
  if (isSigned && token === undefined) return <div className="player" style={shapeOf(video)} />;
  return (
    <Frame
      // An open player does not load new captions or a new poster. So their change replaces the frame.
      key={[
        video.id,
        revision,
        JSON.stringify(video.poster),
        ...video.captions.map(({ language, updatedAt }) => `${language} ${updatedAt}`),
      ].join()}
      video={video}
      token={isSigned ? token?.token : undefined}
      onExpired={() => void refetch()}
    />
  );
}

type FrameProps = { video: Video; token: string | undefined; onExpired: () => void };

/** Another address would start the player again, so it gets a new token as a message. See docs/embed.md. */
function Frame({ video, token, onExpired }: FrameProps) {
  const { embed, title } = video;
  const frame = useRef<HTMLIFrameElement>(null);
  const [first] = useState(token);
  useEffect(() => {
    if (token === undefined || token === first) return;
    frame.current?.contentWindow?.postMessage({ event: 'framelane:setToken', token }, new URL(embed).origin);
  }, [token, first, embed]);
  useEffect(() => {
    const onMessage = ({ source, data }: MessageEvent) => {
      // After the computer slept, for example.
      if (source === frame.current?.contentWindow && data === '{"event":"framelane:tokenExpired"}')
        onExpired();
    };
    addEventListener('message', onMessage);
    return () => removeEventListener('message', onMessage);
  });
  return (
    <iframe
      ref={frame}
      className="player"
      style={shapeOf(video)}
      src={first === undefined ? embed : `${embed}?${new URLSearchParams({ token: first })}`}
      title={`Player: ${title}`}
      allow="autoplay; fullscreen; picture-in-picture"
    />
  );
}
