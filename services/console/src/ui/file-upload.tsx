import { Input } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ErrorAlert } from './error-alert.tsx';
import { FileButton } from './file-button.tsx';

type FileUploadProps<T> = {
  /** The accessible name of the field that holds the file. */
  label: string;
  /** The files that the browser offers, as in the attribute `accept`. */
  accept: string;
  /** Reads a chosen file. Rejects if it cannot be read. */
  read: (file: File) => Promise<T>;
  /** What to choose instead of a file that cannot be read. */
  advice: string;
  upload: (content: T) => Promise<unknown>;
  onDone: () => Promise<unknown>;
  children: ReactNode;
};

/** A button that uploads a file as soon as it is chosen, and shows why that failed. */
export function FileUpload<T>({ label, accept, read, advice, upload, onDone, children }: FileUploadProps<T>) {
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const uploading = useMutation({ mutationFn: upload, onSuccess: onDone });
  const take = async (file: File) => {
    uploading.reset();
    setUnreadable(null);
    const content = await read(file).catch(() => undefined);
    if (content === undefined) setUnreadable(`${file.name} cannot be read. ${advice}`);
    else uploading.mutate(content);
  };
  return (
    <div>
      <FileButton
        size="xs"
        variant="default"
        loading={uploading.isPending}
        label={label}
        accept={accept}
        onFile={take}
      >
        {children}
      </FileButton>
      {unreadable !== null && <Input.Error role="alert">{unreadable}</Input.Error>}
      {uploading.error && <ErrorAlert error={uploading.error} />}
    </div>
  );
}
