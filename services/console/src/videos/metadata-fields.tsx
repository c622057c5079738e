import { Button, CloseButton, Input, TextInput } from '@mantine/core';
import { useRef } from 'react';
import type { EditValues } from './edit-form.ts';

type Entries = EditValues['metadata'];

/** Names and values, which can be added, changed and removed. */
export function MetadataFields({
  entries,
  onChange,
  error,
}: {
  entries: Entries;
  onChange: (entries: Entries) => void;
  error: string | undefined;
}) {
  const replace = (at: number, changes: Partial<Entries[number]>) =>
    onChange(entries.map((entry, index) => (index === at ? { ...entry, ...changes } : entry)));
  const addButton = useRef<HTMLButtonElement>(null);
  return (
    <fieldset className="metadata">
      <legend className="label">Metadata</legend>
      {entries.length > 0 && (
        <div className="metadata-row hint" aria-hidden>
          <span>Name</span>
          <span>Value</span>
        </div>
      )}
      {entries.map(({ name, value }, at) => (
        <div key={at} className="metadata-row">
          <TextInput
            aria-label={`Name ${at + 1}`}
            value={name}
            onChange={({ currentTarget }) => replace(at, { name: currentTarget.value })}
          />
          <TextInput
            aria-label={`Value ${at + 1}`}
            value={value}
            onChange={({ currentTarget }) => replace(at, { value: currentTarget.value })}
          />
          <CloseButton
            aria-label={`Remove entry ${at + 1}`}
            onClick={() => {
              onChange(entries.filter((_, index) => index !== at));
              addButton.current?.focus();
            }}
          />
        </div>
      ))}
      {error !== undefined && <Input.Error role="alert">{error}</Input.Error>}
      <Button
        ref={addButton}
        size="xs"
        variant="default"
        disabled={entries.length >= 50}
        onClick={() => onChange([...entries, { name: '', value: '' }])}
      >
        Add entry
      </Button>
    </fieldset>
  );
}
