import { Button } from '@mantine/core';

type MoreFiltersProps = { isOpen: boolean; onToggle: () => void };

/** Shows or hides the filters after it. In `filters`, only on narrow screens; in `long-filters`, on all. */
export function MoreFilters({ isOpen, onToggle }: MoreFiltersProps) {
  return (
    <Button className="more" variant="default" size="xs" aria-expanded={isOpen} onClick={onToggle}>
      {isOpen ? 'Fewer filters' : 'More filters'}
    </Button>
  );
}
