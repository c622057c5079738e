import type { Schemas, Video } from '@framelane/client';
import { Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FileUpload } from '../ui/file-upload.tsx';
import { Section } from '../ui/section.tsx';
import { formatTypedTime } from '../ui/typed-time.ts';
import { readCaptionsFile } from './captions-file.ts';
import { ChaptersForm } from './chapters-form.tsx';
import { useChapters } from './queries.ts';

type Chapters = Schemas['Chapters'];

/** The chapters of a video. With the permission `videos:write`, they can be changed. `onChange` is called after a change. */
export function ChaptersSection({ video, onChange }: { video: Video; onChange: () => void }) {
  const { can } = useSession();
  const { data: chapters, error, refetch } = useChapters(video);
  const [isEditing, setIsEditing] = useState(false);
  const queries = useQueryClient();
  const changed = async () => {
    await queries.invalidateQueries({ queryKey: ['videos'] });
    onChange();
  };
  const actions = can('videos:write') && !isEditing && chapters !== undefined && (
    <Group gap="xs">
      <FileUpload
        label="File with chapters"
        accept=".vtt,text/vtt"
        read={readCaptionsFile}
        advice="Choose a WebVTT file in UTF-8."
        upload={({ text }) => api.chapters.set(video.id, text)}
        onDone={changed}
      >
        Import WebVTT
      </FileUpload>
      <Button size="xs" variant="default" onClick={() => setIsEditing(true)}>
        Edit chapters
      </Button>
    </Group>
  );
  return (
    <Section title="Chapters" action={actions}>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {chapters !== undefined && isEditing && (
        <ChaptersForm
          videoId={video.id}
          chapters={chapters.chapters}
          onSaved={changed}
          onDone={() => setIsEditing(false)}
        />
      )}
      {chapters !== undefined && !isEditing && <ChaptersList chapters={chapters} />}
    </Section>
  );
}

function ChaptersList({ chapters: { chapters, origin } }: { chapters: Chapters }) {
  if (chapters.length === 0) {
    return (
      <p className="hint">This video has no chapters. Players show chapters in the timeline and in a menu.</p>
    );
  }
  return (
    <>
      <ol className="chapters">
        {chapters.map(({ start, title }) => (
          <li key={start}>
            <span className="hint">{formatTypedTime(start)}</span> <span>{title}</span>
          </li>
        ))}
      </ol>
      {origin === 'file' && <p className="hint">From the uploaded file</p>}
    </>
  );
}
