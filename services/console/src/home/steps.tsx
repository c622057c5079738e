import CircleCheck from 'lucide-react/icons/circle-check';
import type { ReactNode } from 'react';

/** Steps in order. Those that are done have a sign. */
export function Steps({ children }: { children: ReactNode }) {
  return <ol className="steps">{children}</ol>;
}

type StepProps = { title: string; isDone: boolean; children: ReactNode };

export function Step({ title, isDone, children }: StepProps) {
  return (
    <li data-done={isDone}>
      {isDone && <CircleCheck />}
      <div className="step-words">
        <span className="step-title">
          {title}
          {isDone && <span className="only-for-readers"> (done)</span>}
        </span>
        {children}
      </div>
    </li>
  );
}
