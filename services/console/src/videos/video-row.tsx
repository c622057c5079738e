import type { Video } from '@framelane/client';
import { Anchor, Checkbox } from '@mantine/core';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { formatAge, formatBytes, formatDuration, formatTime } from '../ui/format.ts';
import { useNow } from '../ui/now.ts';
import { leaveAt, rowId } from './place.ts';
import { Poster } from './poster.tsx';
import { StatusBadge } from './status-badge.tsx';

type VideoRowProps = {
  video: Video;
  /** The address of the list with a tag as its filter. */
  addressOfTag: (tag: string) => string;
  /** Undefined for somebody who cannot change videos. */
  selection: { isSelected: boolean; onToggle: () => void } | undefined;
};

export function VideoRow({ video, addressOfTag, selection }: VideoRowProps) {
  const { id, title, duration, size, createdAt, playbackPolicy, tags, audioOnly } = video;
  const now = useNow();
  return (
    <li data-selected={selection?.isSelected}>
      {selection && (
        <Checkbox
          aria-label={`Select ${title}`}
          checked={selection.isSelected}
          onChange={selection.onToggle}
        />
      )}
      <Poster video={video} />
      <div className="row-words">
        <Anchor
          component={Link}
          href={paths.video(id)}
          className="row-title"
          id={rowId(id)}
          onClick={() => leaveAt(id)}
        >
          {title}
        </Anchor>
        <div className="row-facts hint">
          {audioOnly === true && <span>audio</span>}
          {playbackPolicy === 'signed' && <span>signed</span>}
          {size !== null && <span>{formatBytes(size)}</span>}
          {tags.map((tag) => (
            <Link
              key={tag}
              href={addressOfTag(tag)}
              className="tag"
              aria-label={`Videos with the tag ${tag}`}
            >
              {tag}
            </Link>
          ))}
        </div>
      </div>
      <span className="row-length hint">{duration !== null && formatDuration(duration)}</span>
      <time className="row-age hint" dateTime={createdAt} title={formatTime(createdAt)}>
        {formatAge(createdAt, now)}
      </time>
      <StatusBadge video={video} />
    </li>
  );
}
