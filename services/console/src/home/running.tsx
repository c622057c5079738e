import type { Schemas } from '@framelane/client';
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Section } from '../ui/section.tsx';
import { writeListAddress } from '../videos/list-address.ts';
import { StatusBadge } from '../videos/status-badge.tsx';
import { Fine } from './fine.tsx';
import { VideoLine } from './video-line.tsx';

const LISTED = 4;

/** The videos that are processed or imported now, with their progress. */
export function Running({ page }: { page: Schemas['VideoPage'] }) {
  const running = page.data.filter(
    ({ status, import: imported }) => status === 'processing' || imported !== null,
  );
  if (running.length === 0) return <Fine>Nothing is being processed</Fine>;
  const count = `${running.length}${page.hasMore ? '+' : ''}`;
  return (
    <Section title="In progress" action={<span className="hint">{count}</span>}>
      <ul className="rows video-lines">
        {running.slice(0, LISTED).map((video) => (
          <VideoLine key={video.id} video={video}>
            <StatusBadge video={video} />
          </VideoLine>
        ))}
      </ul>
      {running.length > LISTED && (
        <Anchor
          component={Link}
          size="sm"
          href={paths.videos + writeListAddress({ status: 'processing' })}
          className="more-link"
        >
          All in progress
        </Anchor>
      )}
    </Section>
  );
}
