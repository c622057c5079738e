import { Button } from '@mantine/core';
import { useId, useRef, useState } from 'react';

/** A text that can be copied. Without permission for the clipboard (plain http), the button selects the text. */
export function Copy({ label, value }: { label: string; value: string }) {
  const id = useId();
  const text = useRef<HTMLPreElement>(null);
  const [outcome, setOutcome] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setOutcome('Copied');
    } catch {
      if (text.current) getSelection()?.selectAllChildren(text.current);
      setOutcome('Selected: copy it with Ctrl+C');
    }
  };
  return (
    <div className="copy">
      <div id={id} className="label">
        {label}
      </div>
      <div className="copy-row">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, also by keyboard. */}
        <pre ref={text} tabIndex={0} aria-labelledby={id}>
          {value}
        </pre>
        <Button size="xs" variant="default" onClick={() => void copy()} aria-label={`Copy: ${label}`}>
          Copy
        </Button>
      </div>
      <div role="status" className="hint">
        {outcome}
      </div>
    </div>
  );
}
