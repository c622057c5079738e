import { TextInput } from '@mantine/core';
import { used } from './typed-input.tsx';

type PeriodFieldsProps = {
  type: 'date' | 'datetime-local';
  /** Of the two fields. */
  labels: [from: string, to: string];
  from: string;
  to: string;
  onChange: (changed: { from?: string; to?: string }) => void;
};

/** Two filters for a period. */
export function PeriodFields({ type, labels, from, to, onChange }: PeriodFieldsProps) {
  return (
    <>
      <TextInput
        label={labels[0]}
        type={type}
        wrapperProps={used(from)}
        value={from}
        max={to}
        onChange={({ currentTarget }) => onChange({ from: currentTarget.value })}
      />
      <TextInput
        label={labels[1]}
        type={type}
        wrapperProps={used(to)}
        value={to}
        min={from}
        onChange={({ currentTarget }) => onChange({ to: currentTarget.value })}
      />
    </>
  );
}
