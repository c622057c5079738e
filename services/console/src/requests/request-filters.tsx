import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { MoreFilters } from '../ui/more-filters.tsx';
import { PeriodFields } from '../ui/period-fields.tsx';
import { TypedInput, used } from '../ui/typed-input.tsx';
import { METHODS, type RequestAddress, readRequestAddress, STATUS_CLASSES } from './request-address.ts';

type Props = { address: RequestAddress; onChange: (changed: Partial<RequestAddress>) => void };

const TEXTS = [
  { name: 'code', label: 'Problem', placeholder: 'video_not_found', maxLength: 100 },
  { name: 'keyId', label: 'Key', placeholder: 'key_…', maxLength: 64 },
  { name: 'requestId', label: 'Request id', placeholder: 'req_…', maxLength: 128 },
] as const;

/** Filters of the requests. Those that are seldom needed are behind a button. */
export function RequestFilters({ address, onChange }: Props) {
  const { code, keyId, requestId, from, to } = address;
  const [isOpen, setIsOpen] = useState(code + keyId + requestId + from + to !== '');
  const all = (values: readonly string[]) => [
    { value: '', label: 'All' },
    ...values.map((value) => ({ value, label: value })),
  ];
  return (
    <search className="filters long-filters">
      <TypedInput
        label="Path begins with"
        type="search"
        placeholder="/v1/videos"
        maxLength={300}
        value={address.path}
        onValue={(path) => onChange({ path })}
      />
      <NativeSelect
        label="Show"
        wrapperProps={used(address.view)}
        value={address.view}
        onChange={({ currentTarget }) => onChange({ view: currentTarget.value === 'errors' ? 'errors' : '' })}
        data={[
          { value: '', label: 'Each request' },
          { value: 'errors', label: 'Errors in groups' },
        ]}
      />
      <NativeSelect
        label="Status"
        wrapperProps={used(address.status)}
        value={address.status}
        onChange={({ currentTarget }) =>
          onChange({ status: readRequestAddress(`status=${currentTarget.value}`).status })
        }
        data={all(STATUS_CLASSES)}
      />
      <NativeSelect
        label="Method"
        wrapperProps={used(address.method)}
        value={address.method}
        onChange={({ currentTarget }) =>
          onChange({ method: readRequestAddress(`method=${currentTarget.value}`).method })
        }
        data={all(METHODS)}
      />
      <MoreFilters isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)} />
      {TEXTS.map(({ name, ...text }) =>
        name === 'requestId' && address.view === 'errors' ? null : (
          <TypedInput
            key={name}
            {...text}
            type="search"
            value={address[name]}
            onValue={(value) => onChange({ [name]: value })}
          />
        ),
      )}
      <PeriodFields type="datetime-local" labels={['From', 'To']} from={from} to={to} onChange={onChange} />
    </search>
  );
}
