import { Button } from '@mantine/core';
import { Copy } from '../ui/copy.tsx';

/** The link that people give to viewers. */
export function WatchLink({ url }: { url: string }) {
  return (
    <Copy
      label="Link"
      value={url}
      action={
        <Button
          component="a"
          size="xs"
          variant="default"
          href={url}
          target="_blank"
          rel="noopener"
          aria-label="Open: Link"
        >
          Open
        </Button>
      }
    />
  );
}
