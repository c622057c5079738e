import type { Video } from '@framelane/client';
import { Button, Group, Input } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatBytes } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Poster } from './poster.tsx';
import { posterOf } from './poster-file.ts';

/** The image that players show before the video plays. With the permission `videos:write`, it can be changed. */
export function PosterSection({ video }: { video: Video }) {
  const { can } = useSession();
  return (
    <Section title="Poster" action={can('videos:write') && <ChoosePoster videoId={video.id} />}>
      <Group wrap="nowrap">
        <Poster video={video} />
        <p className="hint">{posterWords(video)}</p>
      </Group>
      {video.poster !== null && can('videos:write') && <RemovePoster videoId={video.id} />}
    </Section>
  );
}

function posterWords({ poster, thumbnail, status }: Video): string {
  if (poster !== null) return `Your image, ${poster.width} × ${poster.height}, ${formatBytes(poster.bytes)}`;
  if (thumbnail !== null) return 'A frame of the video';
  const isUnderWay = status === 'uploading' || status === 'processing';
  return isUnderWay ? 'A frame of the video, when it is ready' : 'None';
}

/** The list shows the poster as well. */
function useRefreshVideos(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['videos'] });
}

function ChoosePoster({ videoId }: { videoId: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const refresh = useRefreshVideos();
  const upload = useMutation({
    mutationFn: (image: Blob) => api.videos.setPoster(videoId, image),
    onSuccess: refresh,
  });
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    upload.reset();
    setUnreadable(null);
    const image = await posterOf(file).catch(() => undefined);
    if (image === undefined)
      setUnreadable(`The browser cannot read ${file.name}. Choose an image, such as a JPEG or PNG file.`);
    else upload.mutate(image);
  };
  return (
    <div>
      <Button size="xs" variant="default" loading={upload.isPending} onClick={() => input.current?.click()}>
        Choose poster
      </Button>
      <input
        ref={input}
        type="file"
        accept="image/*"
        hidden
        aria-label="File with the poster"
        onChange={({ currentTarget }) => {
          void take(currentTarget.files?.[0]);
          // So that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
      {unreadable !== null && <Input.Error role="alert">{unreadable}</Input.Error>}
      {upload.error && <ErrorAlert error={upload.error} />}
    </div>
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
