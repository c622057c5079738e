import type { Schemas, Video } from '@framelane/client';
import { Button, NativeSelect, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatTime } from '../ui/format.ts';
import { DeveloperUrls } from './developer-urls.tsx';
import { LIFETIMES, playerHtml } from './share-text.ts';
import { WatchLink } from './watch-link.tsx';

/** Creates links that play a signed video until they expire. */
export function PlaybackLink({ video }: { video: Video }) {
  const { id } = video;
  const [seconds, setSeconds] = useState('3600');
  const creation = useMutation({
    mutationFn: () => api.videos.createPlaybackToken(id, { expiresIn: Number(seconds) }),
  });
  return (
    <>
      <p className="hint">
        This video plays only with a link that expires. Everybody who has the link can play the video until
        then.
      </p>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          creation.mutate();
        }}
      >
        <NativeSelect
          label="Valid for"
          value={seconds}
          onChange={({ currentTarget }) => setSeconds(currentTarget.value)}
          data={LIFETIMES}
        />
        <Button type="submit" loading={creation.isPending}>
          Create playback link
        </Button>
      </form>
      {creation.error && <ErrorAlert error={creation.error} />}
      {creation.data && <Links token={creation.data} video={video} />}
    </>
  );
}

function Links({
  token: { token, url, expiresAt },
  video,
}: {
  token: Schemas['PlaybackToken'];
  video: Video;
}) {
  const page = `${video.embed}?${new URLSearchParams({ token })}`;
  return (
    <>
      <Text role="status" size="sm">
        This link ends at {formatTime(expiresAt)}.
      </Text>
      <WatchLink url={page} />
      <DeveloperUrls>
        <Copy label="HTML for a site" value={playerHtml(page, video.title, video)} />
        <Copy label="Playlist (HLS)" value={url} />
      </DeveloperUrls>
    </>
  );
}
