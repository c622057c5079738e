import { Button } from '@mantine/core';
import { type ReactNode, type Ref, useId, useRef } from 'react';
import { endsOf } from './ends.ts';
import { select, useCopy } from './use-copy.ts';

type CopyProps = {
  label: string;
  value: string;
  /** What else can be done with the text. */
  action?: ReactNode;
};

/** A text that can be copied. Several lines wrap; if one line is too long for the page, its middle is left out, not its end. */
export function Copy({ label, value, action }: CopyProps) {
  const id = useId();
  const field = useRef<HTMLElement>(null);
  const { copy, words } = useCopy(value, field);
  const Field = value.includes('\n') ? Lines : Line;
  return (
    <div className="copy">
      <div className="copy-head">
        <span id={id} className="label">
          {label}
        </span>
        <span role="status" className="hint">
          {words}
        </span>
      </div>
      <div className="copy-row">
        <Field labelId={id} value={value} ref={field} />
        <Button size="xs" variant="default" onClick={copy} aria-label={`Copy: ${label}`}>
          Copy
        </Button>
        {action}
      </div>
    </div>
  );
}

type FieldProps = { labelId: string; value: string; ref: Ref<HTMLElement> };

function Lines({ labelId, value, ref }: FieldProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a textarea does not grow with lines that wrap.
    <div
      ref={ref as Ref<HTMLDivElement>}
      className="copy-lines"
      role="textbox"
      aria-readonly
      aria-multiline
      aria-labelledby={labelId}
      tabIndex={0}
      onFocus={({ currentTarget }) => select(currentTarget)}
    >
      {value}
    </div>
  );
}

function Line({ labelId, value, ref }: FieldProps) {
  const { beginning, end } = endsOf(value);
  return (
    // biome-ignore lint/a11y/useSemanticElements: an input can leave out only the end of its text.
    <div
      ref={ref as Ref<HTMLDivElement>}
      className="copy-line"
      role="textbox"
      aria-readonly
      aria-labelledby={labelId}
      tabIndex={0}
      title={value}
      onFocus={({ currentTarget }) => select(currentTarget)}
    >
      <span className="copy-beginning">{beginning}</span>
      <span>{end}</span>
    </div>
  );
}
