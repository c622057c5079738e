import { Button, NativeSelect, TextInput, type TextInputProps } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useShortcut } from '../ui/shortcuts.ts';
import { type ListAddress, readListAddress, STATUSES } from './list-address.ts';
import { TEXT_FILTER_NAMES, TEXT_FILTERS } from './text-fields.ts';

/** Milliseconds without another key before a search begins. */
const TYPING_MS = 300;

type FiltersProps = { address: ListAddress; onChange: (changed: Partial<ListAddress>) => void };

/** Search, filters and order of the list. */
export function Filters({ address, onChange }: FiltersProps) {
  const { q, status, from, to, order } = address;
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
        wrapperProps={used(q)}
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
          wrapperProps={used(address[name])}
          value={address[name]}
          onValue={(value) => onChange({ [name]: value })}
        />
      ))}
      {/* Only on narrow screens. */}
      <Button
        className="more"
        variant="default"
        size="xs"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
      <TextInput
        label="Created from"
        type="date"
        wrapperProps={used(from)}
        value={from}
        max={to}
        onChange={({ currentTarget }) => onChange({ from: currentTarget.value })}
      />
      <TextInput
        label="Created to"
        type="date"
        wrapperProps={used(to)}
        value={to}
        min={from}
        onChange={({ currentTarget }) => onChange({ to: currentTarget.value })}
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

/** Marks the chip of a filter that has a value. */
function used(value: string): { 'data-used': boolean } {
  return { 'data-used': value !== '' };
}

type TypedInputProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string;
  onValue: (value: string) => void;
};

/** Takes effect while somebody types, after a short pause. */
function TypedInput({ value, onValue, ...input }: TypedInputProps) {
  const [typed, setTyped] = useState(value);
  const [shown, setShown] = useState(value);
  // The address changed, for instance by a link.
  if (value !== shown) {
    setShown(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onValue(typed), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <TextInput {...input} value={typed} onChange={({ currentTarget }) => setTyped(currentTarget.value)} />
  );
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
