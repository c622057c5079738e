import type { Schemas } from '@framelane/client';
import { Anchor } from '@mantine/core';
import CircleCheck from 'lucide-react/icons/circle-check';
import CircleX from 'lucide-react/icons/circle-x';
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
const LISTED = 5;

const WORDS: Record<Happening['what'], { words: string; Icon: Icon }> = {
  ready: { words: 'Ready', Icon: CircleCheck },
  failed: { words: 'Failed', Icon: CircleX },
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
  const title = lastVisit === null ? 'The last seven days' : 'Since your last visit';
  const age = lastVisit === null ? [] : [formatAge(new Date(lastVisit).toISOString(), now)];
  const words = countWords(counts, isPart);
  if (list.length === 0) return <Fine>{[`${title}: ${words[0] ?? 'nothing new'}`, ...age].join(' · ')}</Fine>;
  return (
    <Section title={title} action={<span className="hint">{[...words, ...age].join(' · ')}</span>}>
      <ul className="rows video-lines">
        {list.slice(0, LISTED).map(({ video, what, at }) => {
          const { words, Icon } = WORDS[what];
          return (
            <VideoLine key={video.id} video={video}>
              <span className="status-words" data-status={what}>
                <Icon />
                {words}
              </span>
              <Age time={at} className="row-age hint" />
            </VideoLine>
          );
        })}
      </ul>
      {list.length > LISTED && (
        <Anchor component={Link} size="sm" href={paths.videos} className="more-link">
          All videos
        </Anchor>
      )}
    </Section>
  );
}
