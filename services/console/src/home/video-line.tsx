import type { Video } from '@framelane/client';
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Poster } from '../videos/poster.tsx';

type VideoLineProps = {
  video: Video;
  /** What is to say about it, below its title. */
  hint?: ReactNode;
  children?: ReactNode;
};

/** A video in one line: its poster, its title, and what happened at the end. */
export function VideoLine({ video, hint, children }: VideoLineProps) {
  return (
    <li className="video-line">
      <Poster video={video} />
      <span className="video-line-words">
        <Anchor component={Link} href={paths.video(video.id)} className="row-title" title={video.title}>
          {video.title}
        </Anchor>
        {hint}
      </span>
      {children}
    </li>
  );
}
