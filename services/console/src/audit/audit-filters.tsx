import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { MoreFilters } from '../ui/more-filters.tsx';
import { PeriodFields } from '../ui/period-fields.tsx';
import { TypedInput, used } from '../ui/typed-input.tsx';
import { type AuditAddress, readAuditAddress } from './audit-address.ts';
import { ACTIONS, RESOURCE_TYPES } from './audit-words.ts';

type Props = { address: AuditAddress; onChange: (changed: Partial<AuditAddress>) => void };

/** Filters of the audit log. Those that are seldom needed are behind a button. */
export function AuditFilters({ address, onChange }: Props) {
  const { actorId, from, to } = address;
  const [isOpen, setIsOpen] = useState(actorId + from + to !== '');
  const all = (values: readonly string[]) => [
    { value: '', label: 'All' },
    ...values.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
  ];
  return (
    <search className="filters long-filters">
      <TypedInput
        label="Id"
        type="search"
        placeholder="vid_…"
        maxLength={320}
        value={address.resourceId}
        onValue={(resourceId) => onChange({ resourceId })}
      />
      <NativeSelect
        label="Kind"
        wrapperProps={used(address.resourceType)}
        value={address.resourceType}
        onChange={({ currentTarget }) =>
          onChange({ resourceType: readAuditAddress(`resourceType=${currentTarget.value}`).resourceType })
        }
        data={all(RESOURCE_TYPES)}
      />
      <NativeSelect
        label="Action"
        wrapperProps={used(address.action)}
        value={address.action}
        onChange={({ currentTarget }) =>
          onChange({ action: readAuditAddress(`action=${currentTarget.value}`).action })
        }
        data={all(ACTIONS)}
      />
      <MoreFilters isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)} />
      <TypedInput
        label="By"
        type="search"
        placeholder="key_…"
        maxLength={64}
        value={actorId}
        onValue={(id) => onChange({ actorId: id })}
      />
      <PeriodFields type="datetime-local" labels={['From', 'To']} from={from} to={to} onChange={onChange} />
    </search>
  );
}
