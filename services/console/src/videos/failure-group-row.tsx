import { Button, Checkbox } from '@mantine/core';
import ChevronDown from 'lucide-react/icons/chevron-down';
import ChevronRight from 'lucide-react/icons/chevron-right';
import CircleX from 'lucide-react/icons/circle-x';
import { canRetry } from './bulk-tasks.ts';
import type { FailureGroup } from './failure-groups.ts';
import type { Selection } from './selection.ts';

type FailureGroupRowProps = {
  group: FailureGroup;
  isOpen: boolean;
  onToggle: () => void;
  /** Undefined for somebody who cannot change videos. */
  selection: Selection | undefined;
  onRetry: (opener: Element) => void;
};

/** Videos that failed alike, in one line. Their own rows follow it while it is open. */
export function FailureGroupRow({ group, isOpen, onToggle, selection, onRetry }: FailureGroupRowProps) {
  const { words, message, videos } = group;
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  const ids = videos.map(({ id }) => id);
  const chosen = selection === undefined ? 0 : ids.filter(selection.has).length;
  return (
    <li className="group" data-selected={chosen === ids.length}>
      {selection && (
        <Checkbox
          aria-label={`Select ${words}`}
          checked={chosen === ids.length}
          indeterminate={chosen > 0 && chosen < ids.length}
          onChange={() => selection.toggle(ids)}
        />
      )}
      <Chevron />
      <div className="row-words">
        <button
          type="button"
          className="row-title"
          aria-expanded={isOpen}
          title={`${words}: ${message}`}
          onClick={onToggle}
        >
          {words}
        </button>
        <span className="row-error">{message}</span>
      </div>
      <span className="group-action">
        {selection && videos.some(canRetry) && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={({ currentTarget }) => onRetry(currentTarget)}
            aria-label={`Retry all: ${words}`}
          >
            Retry all
          </Button>
        )}
      </span>
      <span className="status">
        <span className="status-words" data-status="failed">
          <CircleX />
          Failed
        </span>
      </span>
    </li>
  );
}
