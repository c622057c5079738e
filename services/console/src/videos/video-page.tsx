import type { Video } from '@framelane/client';
import { Alert, Anchor, Badge, Button, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api } from '../api/api.ts';
import { API_URL, paths } from '../paths.ts';
import { useSession } from '../session/session.ts';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatBytes, formatDuration, formatTime } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { NotFound } from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { DeleteVideo } from './delete-video.tsx';
import { isGone, usePlaybackToken, useVideo } from './queries.ts';
import { StatusBadge } from './status-badge.tsx';
import { adviceFor } from './words.ts';

export function VideoPage({ id }: { id: string }) {
  const { data: video, error, refetch } = useVideo(id);
  if (isGone(error)) return <NotFound what="video" />;
  if (video === undefined) {
    return error === null ? <Loading rows={4} /> : <ErrorAlert error={error} retry={() => void refetch()} />;
  }
  return (
    <Stack>
      <Anchor component={Link} href={paths.videos}>
        All videos
      </Anchor>
      <div className="video-head">
        <PageTitle>{video.title}</PageTitle>
        <StatusBadge video={video} />
      </div>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {video.status === 'failed' ? <Failure video={video} /> : <Player video={video} />}
      <div className="columns">
        <Facts video={video} />
        <Addresses video={video} />
      </div>
      <DeleteVideo video={video} />
    </Stack>
  );
}

/** The player page in a frame. Until the video is ready, it shows the progress and starts by itself. */
function Player({ video }: { video: Video }) {
  const { data: token, error, refetch } = usePlaybackToken(video);
  const isSigned = video.playbackPolicy === 'signed';
  if (error !== null) return <ErrorAlert error={error} retry={() => void refetch()} />;
  if (isSigned && video.status !== 'ready') {
    return <Text>The player appears here when the video is ready.</Text>;
  }
  if (isSigned && token === undefined) return <div className="player" />;
  const query = token === undefined ? '' : `?${new URLSearchParams({ token: token.token })}`;
  return (
    <iframe
      className="player"
      src={`${video.embed}${query}`}
      title={`Player: ${video.title}`}
      allow="autoplay; fullscreen; picture-in-picture"
    />
  );
}

function Failure({ video: { id, error, retryable } }: { video: Video }) {
  const queries = useQueryClient();
  const { can } = useSession();
  const retry = useMutation({
    mutationFn: () => api.videos.retry(id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['videos'] }),
  });
  if (error === null) return null;
  return (
    <Alert color="red" title="This video could not be prepared">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        <Text size="sm">{adviceFor(error.code)}</Text>
        <div className="request-id">{error.code}</div>
        {retryable && can('videos:write') && (
          <Button size="xs" loading={retry.isPending} onClick={() => retry.mutate()}>
            Retry
          </Button>
        )}
        {retry.error && <ErrorAlert error={retry.error} />}
      </Stack>
    </Alert>
  );
}

function Facts({ video }: { video: Video }) {
  const { width, height, frameRate, duration, size, inputIssues, tags, variants, captions } = video;
  return (
    <section aria-labelledby="facts">
      <Title order={2} size="h4" id="facts">
        Facts
      </Title>
      <dl className="facts">
        <Fact name="File">{video.filename}</Fact>
        {size !== null && <Fact name="Size">{formatBytes(size)}</Fact>}
        {duration !== null && <Fact name="Duration">{formatDuration(duration)}</Fact>}
        {width !== null && height !== null && (
          <Fact name="Frame">
            {width} × {height}
            {frameRate !== null && `, ${Number(frameRate.toFixed(3))} per second`}
          </Fact>
        )}
        {variants !== undefined && <Fact name="Renditions">{variants.join(', ')}</Fact>}
        {captions.length > 0 && (
          <Fact name="Captions">{captions.map(({ language }) => language).join(', ')}</Fact>
        )}
        <Fact name="Stored">{formatBytes(video.storageBytes)}</Fact>
        <Fact name="Playback">{video.playbackPolicy}</Fact>
        <Fact name="Environment">{video.environment}</Fact>
        <Fact name="Created">{formatTime(video.createdAt)}</Fact>
        {video.readyAt !== null && <Fact name="Ready">{formatTime(video.readyAt)}</Fact>}
        {tags.length > 0 && (
          <Fact name="Tags">
            {tags.map((tag) => (
              <Badge key={tag} variant="light" color="gray" mr={4} tt="none">
                {tag}
              </Badge>
            ))}
          </Fact>
        )}
      </dl>
      {inputIssues.length > 0 && (
        <>
          <Title order={3} size="h5">
            What Framelane changed
          </Title>
          <ul>
            {inputIssues.map(({ code, message }) => (
              <li key={code}>{message}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Addresses({ video: { id, hls, embed, thumbnail, workspaceId } }: { video: Video }) {
  const frame = `<iframe src="${embed}" width="640" height="360" allow="autoplay; fullscreen; picture-in-picture"></iframe>`;
  const command = `curl ${API_URL}/videos/${id} \\\n  -H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspaceId}'`;
  return (
    <section aria-labelledby="addresses">
      <Title order={2} size="h4" id="addresses">
        For your site and programs
      </Title>
      <Copy label="Video" value={id} />
      {hls !== undefined && <Copy label="Playlist (HLS)" value={hls} />}
      <Copy label="Player page" value={embed} />
      <Copy label="HTML for a site" value={frame} />
      {thumbnail !== null && <Copy label="Poster" value={thumbnail} />}
      <Copy label="Record, with an API key in KEY" value={command} />
    </section>
  );
}
