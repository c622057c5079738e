import { Anchor, Checkbox, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { COMMAND_KEY } from '../palette/palette-key.ts';
import { DOCS_URL } from '../paths.ts';
import { areShortcutsOn, currentShortcuts, switchShortcuts } from './shortcuts.ts';

/** Lists the shortcuts of the page, and switches them on or off. */
export function ShortcutsHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts">
      <Help />
    </Modal>
  );
}

function Help() {
  const [isOn, setIsOn] = useState(areShortcutsOn);
  return (
    <Stack>
      <dl className="shortcuts">
        <div>
          <dt>
            <kbd>{COMMAND_KEY}</kbd>
            <kbd>K</kbd>
          </dt>
          <dd>Find a page, an action or a video</dd>
        </div>
        {currentShortcuts().map(({ keys, words }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label="Single keys are shortcuts"
        checked={isOn}
        onChange={({ currentTarget }) => {
          switchShortcuts(currentTarget.checked);
          setIsOn(currentTarget.checked);
        }}
      />
      <Text size="sm" c="dimmed">
        They have no effect in fields and dialogs. The choice is stored in this browser.
      </Text>
      <Anchor size="sm" href={DOCS_URL} target="_blank" rel="noopener">
        Documentation
      </Anchor>
    </Stack>
  );
}
