import { Anchor, Text } from '@mantine/core';
import { DOCS_URL } from '../paths.ts';
import { Copy } from '../ui/copy.tsx';

const GUIDE = `${DOCS_URL}analytics`;

/** Analytics is switched off, and there are no figures from before. */
export function SwitchedOff() {
  return (
    <div className="empty">
      <Text fw={600}>Analytics is switched off in this installation.</Text>
      <Text>
        Nobody is counted. To count views, the operator sets <code>ANALYTICS=on</code> and restarts the
        control plane.
      </Text>
      <GuideLink />
    </div>
  );
}

/** There are figures from before analytics was switched off. */
export function StoppedNote() {
  return (
    <Text className="hint">
      Analytics is switched off in this installation (<code>ANALYTICS=off</code>): these figures are from
      before.
    </Text>
  );
}

/** How views get here. `embed` is the player page of the video, if there is one. */
export function NoViews({ embed }: { embed?: string | null }) {
  return (
    <div className="empty">
      <Text fw={600}>No views in this period.</Text>
      <Text>
        The player page counts by itself
        {embed ? (
          <>
            :{' '}
            <Anchor href={embed} underline="always" target="_blank" rel="noopener">
              open it
            </Anchor>{' '}
            and watch a few seconds. The view is here within a minute.
          </>
        ) : (
          ': share a video, or embed it in a page.'
        )}{' '}
        The player of this console is the player page, so what you watch here counts, too.
      </Text>
      <Text>Other players count when they send CMCD. In hls.js that is an option:</Text>
      <Copy label="hls.js with CMCD" value="const hls = new Hls({ cmcd: {} });" />
      <Text>Viewers whose browsers send Do Not Track or Global Privacy Control are not counted.</Text>
      <GuideLink />
    </div>
  );
}

/** The session lacks the permission. */
export function NotPermitted() {
  return (
    <div className="empty">
      <Text>To see what is watched, your session needs the permission analytics:read.</Text>
    </div>
  );
}

function GuideLink() {
  return (
    <Anchor href={GUIDE} target="_blank" rel="noopener">
      How views are counted
    </Anchor>
  );
}
