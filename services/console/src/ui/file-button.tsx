import { Button, type ButtonProps, FileButton as FileChooser } from '@mantine/core';
import { type ReactNode, useRef } from 'react';

type FileButtonProps = ButtonProps & {
  /** The accessible name of the field that holds the file. */
  label: string;
  /** The files that the browser offers, as in the attribute `accept`. */
  accept: string;
  onFile: (file: File) => void;
  children: ReactNode;
  'aria-label'?: string;
};

/** A button that lets the user choose a file. */
export function FileButton({ label, accept, onFile, ...button }: FileButtonProps) {
  const reset = useRef<() => void>(null);
  const take = (file: File | null) => {
    // So that the same file can be chosen again after a correction.
    reset.current?.();
    if (file !== null) onFile(file);
  };
  return (
    <FileChooser accept={accept} onChange={take} resetRef={reset} inputProps={{ 'aria-label': label }}>
      {({ onClick }) => <Button {...button} onClick={onClick} />}
    </FileChooser>
  );
}
