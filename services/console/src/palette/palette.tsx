import { Modal } from '@mantine/core';
import { useFocusReturn } from '@mantine/hooks';
import Search from 'lucide-react/icons/search';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { ErrorAlert } from '../ui/error-alert.tsx';
import './palette.css';
import { moved, type PaletteItem } from './palette-items.ts';
import { type ShellActions, usePaletteItems } from './use-palette-items.ts';

type PaletteProps = ShellActions & { opened: boolean; onClose: () => void };

/** Finds pages, actions and videos: a field with a list, as the combobox of the ARIA Authoring Practices. */
export function Palette({ opened, onClose, ...actions }: PaletteProps) {
  const returnFocus = useFocusReturn({ opened, shouldReturnFocus: false });
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      withCloseButton={false}
      attributes={{ content: { 'aria-label': 'Find' } }}
      size="lg"
      padding={0}
      transitionProps={{ duration: 0 }}
    >
      <Finder
        actions={actions}
        onChosen={(item) => {
          // First, so that a dialog of the item gives it back to where it was before the palette.
          returnFocus();
          onClose();
          item.run();
        }}
      />
    </Modal>
  );
}

type FinderProps = { actions: ShellActions; onChosen: (item: PaletteItem) => void };

function Finder({ actions, onChosen }: FinderProps) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  // Enter was pressed before anything was found.
  const [isAwaited, setIsAwaited] = useState(false);
  const { items, isSettled, error } = usePaletteItems(text, actions);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const index = Math.min(active, items.length - 1);
  useEffect(() => {
    list.current?.children.namedItem(`${id}-${index}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, index]);

  useEffect(() => {
    if (!isAwaited || !isSettled) return;
    setIsAwaited(false);
    if (items[0] !== undefined) onChosen(items[0]);
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const to = moved(index, event.key, items.length);
    const chosen = items[index];
    if (to !== undefined) setActive(to);
    else if (event.key !== 'Enter') return;
    else if (chosen !== undefined) onChosen(chosen);
    else setIsAwaited(!isSettled);
    event.preventDefault();
  };
  return (
    <>
      <div className="palette-field">
        <Search />
        <input
          role="combobox"
          aria-label="Find pages, actions and videos"
          aria-expanded={items.length > 0}
          aria-controls={items.length > 0 ? `${id}-list` : undefined}
          aria-autocomplete="list"
          aria-activedescendant={index >= 0 ? `${id}-${index}` : undefined}
          placeholder="A page, an action, or the title or id of a video"
          maxLength={512}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setActive(0);
            setIsAwaited(false);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {error !== null && <ErrorAlert error={error} />}
      {items.length > 0 && (
        <div
          ref={list}
          role="listbox"
          id={`${id}-list`}
          aria-label="Found"
          aria-busy={!isSettled}
          className="palette-list"
        >
          {items.map((item, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field keeps the focus and handles the keys.
            <div
              key={item.id}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === index}
              className="palette-item"
              onPointerMove={() => setActive(at)}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => onChosen(item)}
            >
              <item.Icon />
              <span className="palette-name">{item.name}</span>
              <span className="hint">{item.hint ?? (item.group === 'Pages' ? 'Page' : '')}</span>
            </div>
          ))}
        </div>
      )}
      <div role="status" className="palette-end hint">
        {error === null && words(items.length, isSettled)}
      </div>
    </>
  );
}

/** Enter then ends the input of a word. Safari ends it before it sends the key, which has this code. */
function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}

function words(count: number, isSettled: boolean): string {
  if (!isSettled) return 'Searching…';
  if (count === 0) return 'Nothing found';
  return count === 1 ? '1 result' : `${count} results`;
}
