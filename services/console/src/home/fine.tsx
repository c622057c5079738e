import CircleCheck from 'lucide-react/icons/circle-check';
import type { ReactNode } from 'react';

/** What is fine takes one line. */
export function Fine({ children }: { children: ReactNode }) {
  return (
    <p className="fine">
      <CircleCheck />
      <span>{children}</span>
    </p>
  );
}
