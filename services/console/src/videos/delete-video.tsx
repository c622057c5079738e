import type { Video } from '@framelane/client';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api/api.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { useToast } from '../ui/toasts.tsx';
import { useUploadQueue } from '../uploads/uploads-provider.tsx';
import { useForgetVideo } from './queries.ts';

/** Deletes a video. Nothing for somebody without the permission. */
export function DeleteVideo({ video: { id, title } }: { video: Video }) {
  const { can } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const forget = useForgetVideo();
  const uploads = useUploadQueue();
  const [, navigate] = useLocation();
  const toast = useToast();
  if (!can('videos:write')) return null;
  return (
    <div>
      <Button size="xs" color="red" variant="outline" onClick={() => setIsOpen(true)}>
        Delete video
      </Button>
      <Confirm
        title="Delete video"
        submit="Delete"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        action={() => api.videos.delete(id)}
        onDone={() => {
          forget(id);
          uploads.forget([id]);
        }}
        onDoneHere={() => {
          navigate(paths.videos);
          toast({ words: `“${title}” deleted` });
        }}
      >
        {`“${title}”, its file and its streams are deleted at once. This can't be undone.`}
      </Confirm>
    </div>
  );
}
