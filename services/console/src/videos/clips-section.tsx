import type { Video } from '@framelane/client';
import { Anchor, Button, Group, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api/api.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Section } from '../ui/section.tsx';
import { formatTypedTime } from '../ui/typed-time.ts';
import { clipTimes, frameStart, type TypedTimes } from './clip-times.ts';
import { playerTime } from './player-time.ts';

/** Makes a clip of a video, between two points that the player beside it shows. Needs the permission `videos:write`. */
export function ClipsSection({ video }: { video: Video }) {
  const { can } = useSession();
  return can('videos:write') ? <ClipForm video={video} /> : null;
}

function ClipForm({ video: { id, duration, frameRate } }: { video: Video }) {
  const [typed, setTyped] = useState<TypedTimes>({
    start: formatTypedTime(0),
    end: formatTypedTime(duration ?? 0),
  });
  const [title, setTitle] = useState('');
  const [errors, setErrors] = useState<Partial<TypedTimes>>({});
  const clip = useMutation({
    mutationFn: (times: { start: number; end: number }) =>
      api.clips.create(id, { ...times, ...(title.trim() !== '' && { title: title.trim() }) }),
  });
  const change = (changes: Partial<TypedTimes>) => {
    setTyped((before) => ({ ...before, ...changes }));
    setErrors({});
    clip.reset();
  };
  const take = async (point: keyof TypedTimes) => {
    const seconds = frameStart(await playerTime(), frameRate);
    // The player may show a time that is a little after the last frame.
    change({ [point]: formatTypedTime(Math.min(seconds, duration ?? seconds)) });
  };
  const submit = () => {
    const { times, errors: wrong } = clipTimes(typed);
    setErrors(wrong ?? {});
    if (times !== undefined) clip.mutate(times);
  };
  return (
    <Section title="Clip">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Group align="start">
          <Point
            label="In"
            button="Set in point"
            value={typed.start}
            error={errors.start}
            onChange={(start) => change({ start })}
            onTake={() => take('start')}
          />
          <Point
            label="Out"
            button="Set out point"
            value={typed.end}
            error={errors.end}
            onChange={(end) => change({ end })}
            onTake={() => take('end')}
          />
        </Group>
        <Group align="end" mt="xs">
          <TextInput
            label="Title of the clip"
            value={title}
            maxLength={512}
            onChange={({ currentTarget }) => setTitle(currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={clip.isPending}>
            Make clip
          </Button>
        </Group>
      </form>
      {clip.error && <ErrorAlert error={clip.error} />}
      <p className="hint" role="status">
        {clip.data === undefined ? (
          'A clip is a new video, which stays when this one is deleted.'
        ) : (
          <>
            The clip is being made:{' '}
            <Anchor component={Link} href={paths.video(clip.data.id)}>
              {clip.data.title}
            </Anchor>
          </>
        )}
      </p>
    </Section>
  );
}

function Point(props: {
  label: string;
  button: string;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
  onTake: () => Promise<void>;
}) {
  const { label, button, value, error, onChange, onTake } = props;
  return (
    <Group align="end" gap="xs">
      <TextInput
        label={label}
        value={value}
        error={error}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <Button variant="default" onClick={() => void onTake()}>
        {button}
      </Button>
    </Group>
  );
}
