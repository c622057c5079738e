import { TextInput, type TextInputProps } from '@mantine/core';
import { useEffect, useState } from 'react';

/** Milliseconds without another key before a search begins. */
const TYPING_MS = 300;

type TypedInputProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string;
  onValue: (value: string) => void;
};

/** A filter that takes effect while somebody types, after a short pause. */
export function TypedInput({ value, onValue, ...input }: TypedInputProps) {
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
    <TextInput
      {...input}
      wrapperProps={used(value)}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  );
}

/** Marks the chip of a filter that has a value. */
export function used(value: string): { 'data-used': boolean } {
  return { 'data-used': value !== '' };
}
