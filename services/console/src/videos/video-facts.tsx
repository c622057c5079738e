import type { Video } from '@framelane/client';
import { Anchor, Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Fact, Facts } from '../ui/facts.tsx';
import { formatBytes, formatDuration, formatTime } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { formatTypedTime } from '../ui/typed-time.ts';
import { watermarkWords } from '../ui/watermark-words.ts';
import { TEXT_FIELD_NAMES, TEXT_FIELDS } from './text-fields.ts';

/** What a video is. The facts about its file and its stream are with these. */
export function VideoFacts({ video, action }: { video: Video; action: ReactNode }) {
  const { width, height, frameRate, duration, size, tags, metadata, allowedOrigins, watermark, trim } = video;
  return (
    <Section title="Details" action={action}>
      <Facts>
        {video.import !== null && <Fact name="Imported from">{video.import.url}</Fact>}
        {video.clipOf !== null && (
          <Fact name="Clip of">
            <Anchor component={Link} href={paths.video(video.clipOf.videoId)}>
              {`${formatTypedTime(video.clipOf.start)} to ${formatTypedTime(video.clipOf.end)} of another video`}
            </Anchor>
          </Fact>
        )}
        <TrimFact trim={trim} />
        {duration !== null && <Fact name="Duration">{formatDuration(duration)}</Fact>}
        {width !== null && height !== null && (
          <Fact name="Resolution">
            {width} × {height}
            {frameRate !== null && `, ${Number(frameRate.toFixed(3))} fps`}
          </Fact>
        )}
        <Fact name="File">{video.filename}</Fact>
        {size !== null && <Fact name="Size">{formatBytes(size)}</Fact>}
        <Fact name="Environment">{video.environment}</Fact>
        <Fact name="Created">{formatTime(video.createdAt)}</Fact>
        {video.expiresAt !== null && <Fact name="Expires">{formatTime(video.expiresAt)}</Fact>}
        {watermark !== null && <Fact name="Watermark">{watermarkWords(watermark)}</Fact>}
        <Fact name="Playback">{video.playbackPolicy}</Fact>
        {allowedOrigins !== null && <Fact name="Sites">{allowedOrigins.join(', ') || 'none'}</Fact>}
        {TEXT_FIELD_NAMES.map(
          (name) =>
            video[name] !== null && (
              <Fact key={name} name={TEXT_FIELDS[name]}>
                {video[name]}
              </Fact>
            ),
        )}
        {tags.length > 0 && (
          <Fact name="Tags">
            {tags.map((tag) => (
              <Badge key={tag} variant="light" color="gray" mr={4}>
                {tag}
              </Badge>
            ))}
          </Fact>
        )}
        {Object.entries(metadata).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </Facts>
    </Section>
  );
}

function TrimFact({ trim }: Pick<Video, 'trim'>) {
  if (trim === null) return null;
  const end = trim.end === null ? 'the end' : formatTypedTime(trim.end);
  return <Fact name="Trim">{`${formatTypedTime(trim.start)} to ${end} of the file`}</Fact>;
}
