import type { Schemas } from '@framelane/client';
import { Button, CloseButton, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api } from '../api/api.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { Refused } from '../ui/form-error.tsx';
import { useUnsavedChanges } from '../ui/unsaved-changes.ts';
import { type ChapterRow, chaptersOf, type RowErrors, rowErrors, rowsOf, withRow } from './chapter-rows.ts';
import { playerTime } from './player-time.ts';

const MAX_CHAPTERS = 500;

type ChaptersFormProps = {
  videoId: string;
  chapters: readonly Schemas['Chapter'][];
  /** Called after a change. The promise resolves when the page shows it. */
  onSaved: () => Promise<void>;
  onDone: () => void;
};

/** Edits all chapters. It is beside the player, which shows where the next one begins. */
export function ChaptersForm({ videoId, chapters, onSaved, onDone }: ChaptersFormProps) {
  const [initial] = useState(() => rowsOf(chapters));
  const [rows, setRows] = useState(initial);
  const [unreadable, setUnreadable] = useState<RowErrors>({});
  const addButton = useRef<HTMLButtonElement>(null);
  const save = useMutation({
    mutationFn: async (changed: Schemas['Chapter'][]) => {
      if (changed.length > 0) await api.chapters.set(videoId, changed);
      else if (initial.length > 0) await api.chapters.delete(videoId);
    },
    onSuccess: onSaved,
  });
  const isDirty = JSON.stringify(rows) !== JSON.stringify(initial);
  useUnsavedChanges(isDirty && !save.isSuccess);
  const change = (next: ChapterRow[]) => {
    setRows(next);
    setUnreadable({});
    save.reset();
  };
  const submit = () => {
    const { chapters: typed, errors } = chaptersOf(rows);
    setUnreadable(errors ?? {});
    if (typed !== undefined) save.mutate(typed, { onSuccess: onDone });
  };
  const refused = rowErrors(save.error);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="xs">
        {rows.map((row, at) => (
          <Row
            key={row.key}
            row={row}
            number={at + 1}
            errors={unreadable[at] ?? refused[at]}
            onChange={(changes) =>
              change(rows.map((each) => (each.key === row.key ? { ...each, ...changes } : each)))
            }
            onRemove={() => {
              change(rows.filter(({ key }) => key !== row.key));
              addButton.current?.focus();
            }}
          />
        ))}
        <Group>
          <Button
            ref={addButton}
            size="xs"
            variant="default"
            disabled={rows.length >= MAX_CHAPTERS}
            onClick={async () => change(withRow(rows, await playerTime()))}
          >
            Add chapter at the time of the player
          </Button>
        </Group>
        {save.error &&
          (Object.keys(refused).length > 0 ? (
            <Refused error={save.error} />
          ) : (
            <ErrorAlert error={save.error} />
          ))}
        <FormButtons
          cancel="Cancel"
          onCancel={onDone}
          submit="Save chapters"
          disabled={!isDirty}
          loading={save.isPending}
        />
      </Stack>
    </form>
  );
}

type RowProps = {
  row: ChapterRow;
  number: number;
  errors: RowErrors[number] | undefined;
  onChange: (changes: Partial<ChapterRow>) => void;
  onRemove: () => void;
};

function Row({ row, number, errors, onChange, onRemove }: RowProps) {
  return (
    <div className="chapter-row">
      <TextInput
        aria-label={`Start ${number}`}
        value={row.time}
        onChange={({ currentTarget }) => onChange({ time: currentTarget.value })}
        error={errors?.time}
      />
      <TextInput
        aria-label={`Title ${number}`}
        placeholder="Title"
        maxLength={255}
        value={row.title}
        onChange={({ currentTarget }) => onChange({ title: currentTarget.value })}
        error={errors?.title}
      />
      <CloseButton aria-label={`Remove chapter ${number}`} onClick={onRemove} />
    </div>
  );
}
