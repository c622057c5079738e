import type { Video } from '@framelane/client';
import { Button } from '@mantine/core';
import CodeXml from 'lucide-react/icons/code-xml';
import Frame from 'lucide-react/icons/frame';
import Share2 from 'lucide-react/icons/share-2';
import { isPlayable } from './queries.ts';
import type { VideoTab } from './video-tabs.ts';

const STEPS = [
  { tab: 'share', name: 'Share', Icon: Share2, variant: 'filled' },
  { tab: 'embed', name: 'Embed', Icon: Frame, variant: 'default' },
  { tab: 'code', name: 'Use in code', Icon: CodeXml, variant: 'default' },
] as const;

/** What people do with a video that can be played. */
export function NextSteps({ video, onOpen }: { video: Video; onOpen: (tab: VideoTab) => void }) {
  if (!isPlayable(video)) return null;
  return (
    <div className="next-steps">
      {STEPS.map(({ tab, name, Icon, variant }) => (
        <Button key={tab} variant={variant} leftSection={<Icon />} onClick={() => onOpen(tab)}>
          {name}
        </Button>
      ))}
    </div>
  );
}
