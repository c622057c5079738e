import { NativeSelect, TextInput } from '@mantine/core';
import { METHODS, type RequestAddress, readRequestAddress, STATUS_CLASSES } from './request-address.ts';

type Props = { address: RequestAddress; onChange: (changed: Partial<RequestAddress>) => void };

const TEXTS = [
  { name: 'path', label: 'Path begins with', placeholder: '/v1/videos' },
  { name: 'code', label: 'Problem', placeholder: 'video_not_found' },
  { name: 'keyId', label: 'Key', placeholder: 'key_…' },
  { name: 'requestId', label: 'Request id', placeholder: 'req_…' },
] as const;

export function RequestFilters({ address, onChange }: Props) {
  const all = (values: readonly string[]) => [
    { value: '', label: 'All' },
    ...values.map((value) => ({ value, label: value })),
  ];
  return (
    <search className="filters">
      <NativeSelect
        label="Show"
        value={address.view}
        onChange={({ currentTarget }) => onChange({ view: currentTarget.value === 'errors' ? 'errors' : '' })}
        data={[
          { value: '', label: 'Each request' },
          { value: 'errors', label: 'Errors in groups' },
        ]}
      />
      <NativeSelect
        label="Status"
        value={address.status}
        onChange={({ currentTarget }) =>
          onChange({ status: readRequestAddress(`status=${currentTarget.value}`).status })
        }
        data={all(STATUS_CLASSES)}
      />
      <NativeSelect
        label="Method"
        value={address.method}
        onChange={({ currentTarget }) =>
          onChange({ method: readRequestAddress(`method=${currentTarget.value}`).method })
        }
        data={all(METHODS)}
      />
      {TEXTS.map(({ name, label, placeholder }) =>
        name === 'requestId' && address.view === 'errors' ? null : (
          <TextInput
            key={name}
            label={label}
            type="search"
            placeholder={placeholder}
            value={address[name]}
            onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
          />
        ),
      )}
      <TextInput
        label="From"
        type="datetime-local"
        value={address.from}
        onChange={({ currentTarget }) => onChange({ from: currentTarget.value })}
      />
      <TextInput
        label="To"
        type="datetime-local"
        value={address.to}
        onChange={({ currentTarget }) => onChange({ to: currentTarget.value })}
      />
    </search>
  );
}
