import type { Video } from '@framelane/client';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { apiIn } from '../api/api.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { replaceByImport } from './bulk-tasks.ts';
import { consequencesOf } from './bulk-words.ts';

/** Imports the file of a failed import again, and then shows the new video. */
export function ImportAgainButton({ video }: { video: Video }) {
  const { workspace } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const newId = useRef('');
  return (
    <>
      <Button size="xs" onClick={() => setIsOpen(true)}>
        Import again
      </Button>
      <Confirm
        title="Import again"
        submit="Import"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        action={async () => {
          // The page also shows videos of the other environment.
          const api = apiIn({ workspaceId: workspace.id, environment: video.environment });
          newId.current = await replaceByImport(api, video);
        }}
        onDone={() => queries.invalidateQueries({ queryKey: ['videos', 'list'] })}
        onDoneHere={() => navigate(paths.video(newId.current), { replace: true })}
      >
        {consequencesOf('retry', [video], 0)[0]}
      </Confirm>
    </>
  );
}
