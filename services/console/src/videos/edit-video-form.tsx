import type { Video } from '@framelane/client';
import { Alert, NativeSelect, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { Refused } from '../ui/form-error.tsx';
import {
  changedElsewhere,
  checkValues,
  type EditField,
  type EditValues,
  editValues,
  fieldErrors,
  patchOf,
} from './edit-form.ts';
import { MetadataFields } from './metadata-fields.tsx';
import { useTags } from './queries.ts';
import { suggestedTags } from './suggested-tags.ts';
import { TagSuggestions } from './tag-suggestions.tsx';
import { TEXT_FIELD_NAMES, TEXT_FIELDS } from './text-fields.ts';
import { useUpdateVideo } from './update-video.ts';

type EditVideoFormProps = {
  /** The video as it is now; the form begins with that of the first render. */
  video: Video;
  /** Called when the form begins or ceases to have unsaved changes. */
  onDirty: (isDirty: boolean) => void;
  onCancel: () => void;
  onSaved: () => void;
};

type Errors = Partial<Record<EditField, string>>;

/** The form for the fields that the owner of a video sets. It sends only changed fields. */
export function EditVideoForm({ video, onDirty, onCancel, onSaved }: EditVideoFormProps) {
  const [original] = useState(video);
  const [values, setValues] = useState(() => editValues(video));
  const [mistakes, setMistakes] = useState<Errors>({});
  const used = useTags();
  const [typedTag, setTypedTag] = useState('');
  const update = useUpdateVideo(video.id);
  const patch = patchOf(editValues(original), values);
  const isDirty = Object.keys(patch).length > 0;
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (update.error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [update.error]);

  const refused = fieldErrors(update.error, update.variables ?? {});
  const errors: Errors = { ...refused.errors, ...mistakes };
  const set = (changes: Partial<EditValues>) => setValues((before) => ({ ...before, ...changes }));
  const others = update.isPending ? [] : changedElsewhere(original, video, patch);

  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const found = checkValues(values);
        setMistakes(found);
        // Passed here, `onSaved` is not called after this form was closed: it would close a form that was opened since.
        if (Object.keys(found).length === 0) update.mutate(patch, { onSuccess: onSaved });
      }}
    >
      <Stack>
        <TextInput
          label="Title"
          value={values.title}
          onChange={({ currentTarget }) => set({ title: currentTarget.value })}
          error={errors.title}
          data-autofocus
        />
        <TagsInput
          label="Tags"
          description="Press Enter after each tag"
          value={values.tags}
          onChange={(tags) => set({ tags })}
          searchValue={typedTag}
          onSearchChange={setTypedTag}
          error={errors.tags}
          maxTags={20}
        />
        <TagSuggestions
          tags={suggestedTags(used, { chosen: values.tags, typed: typedTag })}
          onChoose={(tag) => {
            set({ tags: [...values.tags.filter((each) => each !== typedTag.trim()), tag] });
            setTypedTag('');
          }}
        />
        <MetadataFields
          entries={values.metadata}
          onChange={(metadata) => set({ metadata })}
          error={errors.metadata}
        />
        {TEXT_FIELD_NAMES.map((name) => (
          <TextInput
            key={name}
            label={TEXT_FIELDS[name]}
            value={values[name]}
            onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
            error={errors[name]}
          />
        ))}
        <NativeSelect
          label="Playback"
          description="A change applies at once, also to current viewers"
          value={values.playbackPolicy}
          onChange={({ currentTarget }) =>
            set({ playbackPolicy: currentTarget.value === 'signed' ? 'signed' : 'public' })
          }
          data={[
            { value: 'public', label: 'Public: for everybody who has the URL' },
            { value: 'signed', label: 'Signed: only with a link that expires' },
          ]}
          error={errors.playbackPolicy}
        />
        <SitesFields values={values} set={set} error={errors.origins} />
        <KeepFields values={values} set={set} error={errors.days} />
        {others.length > 0 && (
          <Alert color="yellow" title="Changed meanwhile">
            Somebody else has changed the {others.join(' and the ')}. If you save, your change replaces
            theirs.
          </Alert>
        )}
        {update.error &&
          (refused.isComplete ? <Refused error={update.error} /> : <ErrorAlert error={update.error} />)}
        <FormButtons
          cancel="Cancel"
          onCancel={onCancel}
          submit="Save"
          disabled={!isDirty}
          loading={update.isPending}
        />
      </Stack>
    </form>
  );
}

type FieldsProps = {
  values: EditValues;
  set: (changes: Partial<EditValues>) => void;
  error: string | undefined;
};

function SitesFields({ values: { sites, origins }, set, error }: FieldsProps) {
  return (
    <>
      <NativeSelect
        label="Sites that may show the player"
        value={sites}
        onChange={({ currentTarget }) =>
          set({ sites: currentTarget.value === 'list' ? 'list' : 'installation' })
        }
        data={[
          { value: 'installation', label: 'As the installation says, usually all' },
          { value: 'list', label: 'Only these sites' },
        ]}
      />
      {sites === 'list' && (
        <Textarea
          label="Origins, one a line"
          description="Such as https://www.example.com or https://*.example.com. Without any, no other site may show it."
          value={origins}
          onChange={({ currentTarget }) => set({ origins: currentTarget.value })}
          rows={3}
          error={error}
        />
      )}
    </>
  );
}

function KeepFields({ values: { keep, days }, set, error }: FieldsProps) {
  return (
    <>
      <NativeSelect
        label="Keep the uploaded file"
        value={keep}
        onChange={({ currentTarget }) =>
          set({ keep: KEEP.find((each) => each === currentTarget.value) ?? 'always' })
        }
        data={[
          { value: 'always', label: 'Always' },
          { value: 'days', label: 'For some days after the transcode' },
          { value: 'never', label: 'Never: delete it after the transcode' },
        ]}
      />
      {keep === 'days' && (
        <TextInput
          type="number"
          min={1}
          max={3650}
          label="Days"
          value={days}
          onChange={({ currentTarget }) => set({ days: currentTarget.value })}
          error={error}
        />
      )}
    </>
  );
}

const KEEP = ['always', 'never', 'days'] as const;
