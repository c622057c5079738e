import type { Video } from '@framelane/client';
import { Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FileUpload } from '../ui/file-upload.tsx';
import { formatBytes } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { formatTypedTime } from '../ui/typed-time.ts';
import { shapeOf } from './player-shape.ts';
import { playerTime } from './player-time.ts';
import { Poster } from './poster.tsx';
import { posterOf } from './poster-file.ts';

/** The image that players show before the video plays. With the permission `videos:write`, it can be changed. */
export function PosterSection({ video }: { video: Video }) {
  const { can } = useSession();
  return (
    <Section title="Poster" action={can('videos:write') && <ChangePoster video={video} />}>
      <Group wrap="nowrap" style={shapeOf(video.poster ?? video)}>
        <Poster video={video} />
        <p className="hint">{posterWords(video)}</p>
      </Group>
      {video.poster !== null && can('videos:write') && <RemovePoster videoId={video.id} />}
    </Section>
  );
}

function posterWords({ poster, posterTime, thumbnail, status }: Video): string {
  if (poster !== null) return `Your image, ${poster.width} × ${poster.height}, ${formatBytes(poster.bytes)}`;
  if (posterTime !== null) return `The frame at ${formatTypedTime(posterTime)}`;
  if (thumbnail !== null) return 'A frame of the video';
  const isUnderWay = status === 'uploading' || status === 'processing';
  return isUnderWay ? 'A frame of the video, when it is ready' : 'None';
}

/** The list shows the poster as well. */
function useRefreshVideos(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['videos'] });
}

function ChangePoster({ video }: { video: Video }) {
  return (
    <Group gap="xs">
      <ChoosePoster videoId={video.id} />
      {video.status === 'ready' && video.audioOnly === false && <UseFrame videoId={video.id} />}
    </Group>
  );
}

/** An engine makes the image of the frame within about this time. */
const FRAME_MS = 1500;

/** Makes the frame that the player shows the poster. */
function UseFrame({ videoId }: { videoId: string }) {
  const refresh = useRefreshVideos();
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      await api.videos.update(videoId, { posterTime: await playerTime() });
      await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    },
    onSuccess: refresh,
  });
  return (
    <>
      <Button size="xs" variant="default" loading={isPending} onClick={() => mutate()}>
        Use current frame
      </Button>
      {error !== null && <ErrorAlert error={error} />}
    </>
  );
}

function ChoosePoster({ videoId }: { videoId: string }) {
  const refresh = useRefreshVideos();
  return (
    <FileUpload
      label="File with the poster"
      accept="image/*"
      read={posterOf}
      advice="Choose an image that this browser can show, such as a JPEG or PNG file."
      upload={(image) => api.videos.setPoster(videoId, image)}
      onDone={refresh}
    >
      Choose poster
    </FileUpload>
  );
}

function RemovePoster({ videoId }: { videoId: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const refresh = useRefreshVideos();
  return (
    <>
      <Button size="xs" mt="xs" variant="outline" color="red" onClick={() => setIsOpen(true)}>
        Remove poster
      </Button>
      <Confirm
        title="Remove the poster"
        submit="Remove"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        action={() => api.videos.deletePoster(videoId)}
        onDone={refresh}
      >
        Your image is deleted at once. The poster is a frame of the video again.
      </Confirm>
    </>
  );
}
