import Check from 'lucide-react/icons/check';
import CopyIcon from 'lucide-react/icons/copy';
import { useRef } from 'react';
import './code-block.css';
import { IconButton } from './icon-button.tsx';
import { useCopy } from './use-copy.ts';

/** Lines of code with a button that copies them. */
export function CodeBlock({ label, code }: { label: string; code: string }) {
  const element = useRef<HTMLElement>(null);
  const { copy, words } = useCopy(code, element);
  return (
    <div className="code-block">
      <div className="code-head">
        <span className="hint">{label}</span>
        <span role="status" className="hint">
          {words}
        </span>
        <IconButton label={`Copy: ${label}`} Icon={words === 'Copied' ? Check : CopyIcon} onClick={copy} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls long lines. */}
      <section className="code-lines" aria-label={label} tabIndex={0}>
        <pre>
          <code ref={element}>{code}</code>
        </pre>
      </section>
    </div>
  );
}
