import type { Video } from '@framelane/client';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Section } from '../ui/section.tsx';
import { writeListAddress } from '../videos/list-address.ts';
import { StatusBadge } from '../videos/status-badge.tsx';
import { Fine } from './fine.tsx';
import { VideoLine } from './video-line.tsx';

const LISTED = 5;

/** The videos that are processed or imported now, with their progress. */
export function Running({ videos }: { videos: readonly Video[] }) {
  const running = videos.filter(
    ({ status, import: imported }) => status === 'processing' || imported !== null,
  );
  const rest = running.length - LISTED;
  return (
    <Section
      title="In progress"
      action={running.length > 0 && <span className="hint">{running.length}</span>}
    >
      {running.length === 0 ? (
        <Fine>Nothing is being processed.</Fine>
      ) : (
        <ul className="rows video-lines">
          {running.slice(0, LISTED).map((video) => (
            <VideoLine key={video.id} video={video}>
              <StatusBadge video={video} />
            </VideoLine>
          ))}
        </ul>
      )}
      {rest > 0 && (
        <Link href={paths.videos + writeListAddress({ status: 'processing' })} className="more-link">
          {rest} more
        </Link>
      )}
    </Section>
  );
}
