import type { Video } from '@framelane/client';
import { Anchor, Badge, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Fact, Facts } from '../ui/facts.tsx';
import { formatBytes, formatDuration, formatTime } from '../ui/format.ts';
import { codecWords, HDR_CHOICES, PACKAGINGS } from '../ui/packaging-words.ts';
import { Section } from '../ui/section.tsx';
import { formatTypedTime } from '../ui/typed-time.ts';
import { watermarkWords } from '../ui/watermark-words.ts';
import { TEXT_FIELD_NAMES, TEXT_FIELDS } from './text-fields.ts';

/** The properties of a video and its file. */
export function VideoFacts({ video, action }: { video: Video; action: ReactNode }) {
  const {
    width,
    height,
    frameRate,
    duration,
    size,
    source,
    tags,
    metadata,
    allowedOrigins,
    watermark,
    trim,
  } = video;
  return (
    <Section title="Details" action={action}>
      <Facts>
        <Fact name="File">{video.filename}</Fact>
        {video.import !== null && <Fact name="Imported from">{video.import.url}</Fact>}
        {video.clipOf !== null && (
          <Fact name="Clip of">
            <Anchor component={Link} href={paths.video(video.clipOf.videoId)}>
              {`${formatTypedTime(video.clipOf.start)} to ${formatTypedTime(video.clipOf.end)} of another video`}
            </Anchor>
          </Fact>
        )}
        <TrimFact trim={trim} />
        {size !== null && <Fact name="Size">{formatBytes(size)}</Fact>}
        {duration !== null && <Fact name="Duration">{formatDuration(duration)}</Fact>}
        {width !== null && height !== null && (
          <Fact name="Resolution">
            {width} × {height}
            {frameRate !== null && `, ${Number(frameRate.toFixed(3))} fps`}
          </Fact>
        )}
        {source !== null && (
          <>
            <Fact name="Format">{source.container}</Fact>
            <Fact name="Codecs">
              {source.videoCodec ?? 'no video'}, {source.audioCodec ?? 'no audio'}
            </Fact>
            <Fact name="SHA-256">
              <span className="small-code">{source.sha256}</span>
            </Fact>
          </>
        )}
        <Fact name="Packaging">{PACKAGINGS[video.packaging].long}</Fact>
        <CodecFacts {...video} />
        <Fact name="Stored">{formatBytes(video.storageBytes)}</Fact>
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
      <InputIssues issues={video.inputIssues} />
    </Section>
  );
}

function TrimFact({ trim }: Pick<Video, 'trim'>) {
  if (trim === null) return null;
  const end = trim.end === null ? 'the end' : formatTypedTime(trim.end);
  return <Fact name="Trim">{`${formatTypedTime(trim.start)} to ${end} of the file`}</Fact>;
}

/** The codecs of a stream that has not only H.264. */
function CodecFacts({ codecs, hdr }: Pick<Video, 'codecs' | 'hdr'>) {
  if (codecs.length < 2) return null;
  return (
    <>
      <Fact name="Codecs of the stream">
        {codecs.map((state) => (
          <div key={state.codec}>{codecWords(state)}</div>
        ))}
      </Fact>
      {hdr === 'keep' && <Fact name="High dynamic range">{HDR_CHOICES.keep.long}</Fact>}
    </>
  );
}

function InputIssues({ issues }: { issues: Video['inputIssues'] }) {
  if (issues.length === 0) return null;
  return (
    <>
      <Title order={3} size="h5">
        What Framelane changed
      </Title>
      <ul className="issues">
        {issues.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </>
  );
}
