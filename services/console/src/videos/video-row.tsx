import type { Video } from '@framelane/client';
import { Anchor, Checkbox } from '@mantine/core';
import LockKeyhole from 'lucide-react/icons/lock-keyhole';
import { memo } from 'react';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Age } from '../ui/age.tsx';
import { formatBytes, formatDuration } from '../ui/format.ts';
import { leaveAt, rowId } from './place.ts';
import { Poster } from './poster.tsx';
import { StatusBadge } from './status-badge.tsx';
import './tags.css';

type VideoRowProps = {
  video: Video;
  /** Whether the line of a group is above it. */
  isMember: boolean;
  /** The address of the list with a tag as its filter. */
  addressOfTag: (tag: string) => string;
  isSelected: boolean;
  /** Selects the video or not. Undefined for somebody who cannot change videos. */
  onToggle: ((id: string) => void) | undefined;
};

/** A video in one line. It renders only when its own properties change: a selection changes one row, not the whole page. */
export const VideoRow = memo(function VideoRow(props: VideoRowProps) {
  const { video, isMember, addressOfTag, isSelected, onToggle } = props;
  const { id, title, duration, size, createdAt, playbackPolicy, tags, audioOnly, error } = video;
  return (
    <li className={isMember ? 'member' : undefined} data-selected={isSelected}>
      {onToggle && (
        <Checkbox aria-label={`Select ${title}`} checked={isSelected} onChange={() => onToggle(id)} />
      )}
      <Poster video={video} />
      <div className="row-words">
        <Anchor
          component={Link}
          href={paths.video(id)}
          className="row-title"
          title={title}
          id={rowId(id)}
          onClick={() => leaveAt(id)}
        >
          {title}
        </Anchor>
        {playbackPolicy === 'signed' && (
          <span className="row-sign hint" title="Viewers need a playback token">
            <LockKeyhole />
            signed
          </span>
        )}
        {audioOnly === true && <span className="hint">audio</span>}
        {error !== null && (
          <span className="row-error" title={error.message}>
            {error.message}
          </span>
        )}
        {tags.length > 0 && (
          <span className="row-tags">
            {tags.map((tag) => (
              <Link
                key={tag}
                href={addressOfTag(tag)}
                className="tag"
                title={tag}
                aria-label={`Videos with the tag ${tag}`}
              >
                {tag}
              </Link>
            ))}
          </span>
        )}
      </div>
      <span className="row-size hint">{size !== null && formatBytes(size)}</span>
      <span className="row-length hint">{duration !== null && formatDuration(duration)}</span>
      <Age time={createdAt} className="row-age hint" />
      <StatusBadge video={video} />
    </li>
  );
});
