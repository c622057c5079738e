import { Button } from '@mantine/core';
import { useEffect, useId, useRef, useState } from 'react';

/** How long the outcome is shown. */
const SHOWN_MS = 5000;

/** A text that can be copied. Without permission for the clipboard (plain http), the button selects the text. */
export function Copy({ label, value }: { label: string; value: string }) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [outcome, setOutcome] = useState({ of: value, words: '' });
  useEffect(() => {
    if (outcome.words === '') return;
    const timer = setTimeout(() => setOutcome({ ...outcome, words: '' }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setOutcome({ of: value, words: 'Copied' });
    } catch {
      field.current?.select();
      setOutcome({ of: value, words: 'Selected: copy it with the keyboard' });
    }
  };
  return (
    <div className="copy">
      <label htmlFor={id} className="label">
        {label}
      </label>
      <div className="copy-row">
        <textarea id={id} ref={field} readOnly value={value} rows={value.split('\n').length} wrap="off" />
        <Button size="xs" variant="default" onClick={() => void copy()} aria-label={`Copy: ${label}`}>
          Copy
        </Button>
      </div>
      <div role="status" className="hint">
        {outcome.of === value && outcome.words}
      </div>
    </div>
  );
}
