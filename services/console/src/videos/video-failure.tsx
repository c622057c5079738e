import type { Video } from '@framelane/client';
import { Alert, Button, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { canImportAgain } from './import-again.ts';
import { ImportAgainButton } from './import-again-button.tsx';
import { adviceFor } from './video-words.ts';

/** Why a video failed and what to do. */
export function VideoFailure({ video }: { video: Video }) {
  const { id, error, retryable, sourceFile } = video;
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
        <div className="small-code">{error.code}</div>
        {(sourceFile.stored || retryable) && can('videos:write') && (
          <Button
            size="xs"
            variant={retryable ? 'filled' : 'subtle'}
            loading={retry.isPending}
            onClick={() => retry.mutate()}
          >
            {retryable ? 'Retry' : 'Retry anyway'}
          </Button>
        )}
        {canImportAgain(video) && can('videos:write') && <ImportAgainButton video={video} />}
        {retry.error && <ErrorAlert error={retry.error} />}
      </Stack>
    </Alert>
  );
}
