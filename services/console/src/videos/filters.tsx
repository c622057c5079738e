import { NativeSelect } from '@mantine/core';
import { useRef, useState } from 'react';
import { MoreFilters } from '../ui/more-filters.tsx';
import { PeriodFields } from '../ui/period-fields.tsx';
import { useShortcut } from '../ui/shortcuts.ts';
import { TypedInput, used } from '../ui/typed-input.tsx';
import { type ListAddress, readListAddress, STATUSES } from './list-address.ts';
import { useTags } from './queries.ts';
import { TEXT_FILTER_NAMES, TEXT_FILTERS } from './text-fields.ts';

type FiltersProps = { address: ListAddress; onChange: (changed: Partial<ListAddress>) => void };

/** Search, filters and order of the list. */
export function Filters({ address, onChange }: FiltersProps) {
  const { q, status, from, to, order } = address;
  const tags = useTags();
  const search = useRef<HTMLInputElement>(null);
  const [isOpen, setIsOpen] = useState(from + to + order !== '');
  useShortcut('/', 'Search', () => search.current?.focus());
  return (
    <search className="filters">
      <TypedInput
        ref={search}
        label="Search"
        type="search"
        placeholder="Title"
        maxLength={512}
        value={q}
        onValue={(value) => onChange({ q: value })}
      />
      <NativeSelect
        label="Status"
        wrapperProps={used(status)}
        value={status}
        onChange={({ currentTarget }) =>
          onChange({ status: readListAddress(`status=${currentTarget.value}`).status })
        }
        data={[
          { value: '', label: 'All' },
          ...STATUSES.map((value) => ({ value, label: capitalize(value) })),
        ]}
      />
      {TEXT_FILTER_NAMES.map((name) => (
        <TypedInput
          key={name}
          {...TEXT_FILTERS[name]}
          type="search"
          list={name === 'tag' ? 'used-tags' : undefined}
          value={address[name]}
          onValue={(value) => onChange({ [name]: value })}
        />
      ))}
      <datalist id="used-tags">
        {tags.map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
      <MoreFilters isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)} />
      <PeriodFields
        type="date"
        labels={['Created from', 'Created to']}
        from={from}
        to={to}
        onChange={onChange}
      />
      <NativeSelect
        label="Order"
        wrapperProps={used(order)}
        value={order}
        onChange={({ currentTarget }) => onChange({ order: currentTarget.value === 'asc' ? 'asc' : '' })}
        data={[
          { value: '', label: 'Newest first' },
          { value: 'asc', label: 'Oldest first' },
        ]}
      />
    </search>
  );
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
