import { Group, TextInput } from '@mantine/core';
import type { TrimForm } from './trim-request.ts';

type TrimFieldsProps = {
  form: TrimForm;
  errors: { [Field in keyof TrimForm]?: string | undefined } | undefined;
  onChange: (form: TrimForm) => void;
};

/** When the part of a file begins and ends that becomes a video. */
export function TrimFields({ form, errors, onChange }: TrimFieldsProps) {
  return (
    <Group grow align="start">
      <TextInput
        label="Begin at"
        placeholder="0:00"
        value={form.start}
        onChange={({ currentTarget }) => onChange({ ...form, start: currentTarget.value })}
        error={errors?.start}
      />
      <TextInput
        label="End at"
        placeholder="end of the file"
        value={form.end}
        onChange={({ currentTarget }) => onChange({ ...form, end: currentTarget.value })}
        error={errors?.end}
      />
    </Group>
  );
}
