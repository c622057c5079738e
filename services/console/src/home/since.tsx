import type { Schemas } from '@framelane/client';
import CircleCheck from 'lucide-react/icons/circle-check';
import CircleX from 'lucide-react/icons/circle-x';
import Upload from 'lucide-react/icons/upload';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Age } from '../ui/age.tsx';
import { formatAge } from '../ui/format.ts';
import type { Icon } from '../ui/icon.ts';
import { useNow } from '../ui/now.ts';
import { Section } from '../ui/section.tsx';
import { Fine } from './fine.tsx';
import { countWords, type Happening, happeningsAfter } from './happenings.ts';
import { VideoLine } from './video-line.tsx';

/** Videos that are listed; the counts include all. */
const LISTED = 6;

const WORDS: Record<Happening['what'], { status: string; words: string; Icon: Icon }> = {
  uploaded: { status: 'processing', words: 'Uploaded', Icon: Upload },
  ready: { status: 'ready', words: 'Ready', Icon: CircleCheck },
  failed: { status: 'failed', words: 'Failed', Icon: CircleX },
};

type SinceProps = {
  page: Schemas['VideoPage'];
  /** Unix times in milliseconds. */
  lastVisit: number | null;
  weekAgo: number;
};

/** What happened since the last visit, or in the last week. */
export function Since({ page, lastVisit, weekAgo }: SinceProps) {
  const now = useNow();
  const time = lastVisit ?? weekAgo;
  const { list, counts } = happeningsAfter(page.data, time);
  const oldest = page.data.at(-1)?.createdAt;
  const isPart = page.hasMore && oldest !== undefined && Date.parse(oldest) > time;
  const age = lastVisit === null ? '' : formatAge(new Date(lastVisit).toISOString(), now);
  const title = lastVisit === null ? 'The last seven days' : 'Since your last visit';
  if (list.length === 0)
    return (
      <Section title={title} action={<span className="hint">{age}</span>}>
        <Fine>Nothing new.</Fine>
      </Section>
    );
  return (
    <Section
      title={title}
      action={
        <span className="hint">{[...countWords(counts, isPart), age].filter(Boolean).join(' · ')}</span>
      }
    >
      <ul className="rows video-lines">
        {list.slice(0, LISTED).map(({ video, what, at }) => {
          const { status, words, Icon } = WORDS[what];
          return (
            <VideoLine key={video.id} video={video}>
              <span className="status-words" data-status={status}>
                <Icon />
                {words}
              </span>
              <Age time={at} className="row-age hint" />
            </VideoLine>
          );
        })}
      </ul>
      {list.length > LISTED && (
        <Link href={paths.videos} className="more-link">
          All videos
        </Link>
      )}
    </Section>
  );
}
