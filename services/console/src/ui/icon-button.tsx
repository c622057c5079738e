import type { ButtonHTMLAttributes } from 'react';
import type { Icon } from './icon.ts';

type IconButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children' | 'aria-label' | 'title'> & {
  /** What the button does: its accessible name, which a pointer also shows. */
  label: string;
  Icon: Icon;
};

/** A button that is an icon. */
export function IconButton({ label, Icon, ...button }: IconButtonProps) {
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} {...button}>
      <Icon />
    </button>
  );
}
