import type { Schemas, Video } from '@framelane/client';
import { Anchor, Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../api/api.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Age } from '../ui/age.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Section } from '../ui/section.tsx';
import { useToast } from '../ui/toasts.tsx';
import { forEachLeft, initialProgress } from '../videos/bulk.ts';
import { writeListAddress } from '../videos/list-address.ts';
import { adviceFor } from '../videos/video-words.ts';
import { type FailureGroup, failureGroups } from './failure-groups.ts';
import { Fine } from './fine.tsx';

/** Reasons that are listed. */
const LISTED = 5;

/** Why videos failed after a time, and what to do. `time` is a Unix time in milliseconds. */
export function Failed({ page, time }: { page: Schemas['VideoPage']; time: number }) {
  const groups = failureGroups(page.data, time);
  if (groups.length === 0) return <Fine>No video has failed in the last seven days</Fine>;
  return (
    <Section
      title="Failed"
      action={
        <Anchor component={Link} href={paths.videos + writeListAddress({ status: 'failed' })} size="sm">
          All failed videos
        </Anchor>
      }
    >
      <ul className="failure-groups">
        {groups.slice(0, LISTED).map((group) => (
          <Failure key={`${group.error.code} ${group.error.message}`} group={group} />
        ))}
      </ul>
    </Section>
  );
}

function Failure({ group: { error, videos } }: { group: FailureGroup }) {
  const [first, ...others] = videos;
  if (first === undefined) return null;
  return (
    <li>
      <div className="failure-words">
        <span className="failure-titles">
          <Anchor component={Link} href={paths.video(first.id)} className="row-title" title={first.title}>
            {first.title}
          </Anchor>
          {others.length > 0 && <span className="hint">and {others.length} more</span>}
          <Age time={first.updatedAt} className="hint" />
        </span>
        <span className="failure-reason">{error.message}</span>
        <span className="hint">{adviceFor(error.code)}</span>
      </div>
      <Retry videos={videos.filter(({ retryable }) => retryable)} />
    </li>
  );
}

function Retry({ videos }: { videos: readonly Video[] }) {
  const queries = useQueryClient();
  const toast = useToast();
  const { can } = useSession();
  const retry = useMutation({
    mutationFn: async () => {
      const { signal } = new AbortController();
      const start = initialProgress(videos);
      const { done, failed } = await forEachLeft(start, ({ id }) => api.videos.retry(id), {
        signal,
        onProgress: () => {},
      });
      if (done.length > 0)
        toast({ words: done.length === 1 ? 'The video is retried' : `${done.length} videos are retried` });
      if (failed[0] !== undefined) throw failed[0].error;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['videos'] }),
  });
  if (videos.length === 0 || !can('videos:write')) return null;
  return (
    <>
      <Button size="xs" variant="default" loading={retry.isPending} onClick={() => retry.mutate()}>
        {videos.length === 1 ? 'Retry' : `Retry ${videos.length}`}
      </Button>
      {retry.error && <ErrorAlert error={retry.error} />}
    </>
  );
}
