import type { Video } from '@framelane/client';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { isPlayable, usePlaybackToken } from './queries.ts';

/** The player page in a frame. Until the video can be played, it shows the progress and starts by itself. */
export function Player({ video }: { video: Video }) {
  const { data: token, error, refetch } = usePlaybackToken(video);
  const isSigned = video.playbackPolicy === 'signed';
  if (error !== null) return <ErrorAlert error={error} retry={() => void refetch()} />;
  if (isSigned && !isPlayable(video)) return null;
  if (isSigned && token === undefined) return <div className="player" />;
  const query = isSigned && token !== undefined ? `?${new URLSearchParams({ token: token.token })}` : '';
  return (
    <iframe
      // A player that is open does not get other captions.
      key={video.captions.map(({ language, updatedAt }) => `${language} ${updatedAt}`).join()}
      className="player"
      src={`${video.embed}${query}`}
      title={`Player: ${video.title}`}
      allow="autoplay; fullscreen; picture-in-picture"
    />
  );
}
