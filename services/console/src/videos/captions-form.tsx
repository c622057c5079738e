import type { Schemas } from '@framelane/client';
import { Checkbox, Input, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FileButton } from '../ui/file-button.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { Refused } from '../ui/form-error.tsx';
import { captionsErrors } from './captions-errors.ts';
import { type CaptionsFile, languageIn, readCaptionsFile } from './captions-file.ts';
import { languageTagOf } from './language-tag.ts';
import { useRefreshVideo } from './queries.ts';

type CaptionsFormProps = {
  videoId: string;
  /** The captions that the file replaces; null when the user adds captions and chooses the language. */
  replaced: Schemas['Captions'] | null;
  onDone: () => void;
};

/** Sets the captions of a language with a file that is chosen or dropped. */
export function CaptionsForm({ videoId, replaced, onDone }: CaptionsFormProps) {
  const [file, setFile] = useState<CaptionsFile | null>(null);
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const [language, setLanguage] = useState(replaced?.language ?? '');
  const [label, setLabel] = useState(replaced?.label ?? '');
  const [isDefault, setIsDefault] = useState(replaced?.default ?? false);
  const tag = replaced?.language ?? languageTagOf(language);
  const refresh = useRefreshVideo(videoId);
  const upload = useMutation({
    mutationFn: ({ text, format }: CaptionsFile) =>
      api.captions.set(videoId, tag ?? '', text, {
        ...(format && { format }),
        ...(label.trim() !== '' && { label: label.trim() }),
        default: isDefault,
      }),
    onSuccess: refresh,
  });
  const take = async (chosen: File | undefined) => {
    if (chosen === undefined) return;
    upload.reset();
    try {
      setFile(await readCaptionsFile(chosen));
      setUnreadable(null);
      setLanguage((typed) => typed || languageIn(chosen.name));
    } catch (error) {
      setFile(null);
      // The decoder throws a TypeError, `File` a DOMException.
      setUnreadable(
        error instanceof TypeError
          ? `${chosen.name} is not in UTF-8. Save it in UTF-8, then choose it again.`
          : `${chosen.name} could not be read. Choose it again.`,
      );
    }
  };
  const missing = missingWords(file !== null, language, tag);
  const errors = captionsErrors(upload.error);
  const isMarked = Object.keys(errors).length > 0;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        // Passed here, `onDone` is not called after this form was closed: it would close a form that was opened since.
        if (file !== null && tag !== undefined) upload.mutate(file, { onSuccess: onDone });
      }}
    >
      <Stack>
        <FileField file={file} onFile={take} error={unreadable ?? errors.file} />
        <TextInput
          label="Language"
          description="Such as English, or as a BCP 47 tag: en, pt-BR"
          value={language}
          onChange={({ currentTarget }) => setLanguage(currentTarget.value)}
          readOnly={replaced !== null}
          error={errors.language}
        />
        <TextInput
          label="Label"
          description="The name in the player's menu. Without one, the name of the language"
          value={label}
          onChange={({ currentTarget }) => setLabel(currentTarget.value)}
          error={errors.label}
        />
        <Checkbox
          label="Default: shown unless the viewer chooses otherwise"
          checked={isDefault}
          onChange={({ currentTarget }) => setIsDefault(currentTarget.checked)}
        />
        {missing !== undefined && (
          <Text size="sm" c="dimmed">
            {missing}
          </Text>
        )}
        {upload.error && (isMarked ? <Refused error={upload.error} /> : <ErrorAlert error={upload.error} />)}
        <FormButtons
          cancel="Cancel"
          onCancel={onDone}
          submit="Save captions"
          disabled={missing !== undefined}
          loading={upload.isPending}
        />
      </Stack>
    </form>
  );
}

/** Why the captions cannot be saved yet; undefined if they can. */
function missingWords(hasFile: boolean, language: string, tag: string | undefined): string | undefined {
  if (language.trim() !== '' && tag === undefined) {
    return `“${language.trim()}” is not the English name of a language. Check it, or type a tag such as en.`;
  }
  if (!hasFile) return tag === undefined ? 'Choose a file and a language to save.' : 'Choose a file to save.';
  return tag === undefined ? 'Choose a language to save.' : undefined;
}

type FileFieldProps = {
  file: CaptionsFile | null;
  onFile: (file: File | undefined) => void;
  error: string | undefined;
};

/** Takes a file that is dropped on it, or chosen. */
function FileField({ file, onFile, error }: FileFieldProps) {
  const [isOver, setIsOver] = useState(false);
  return (
    <div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button does the same with the keyboard. */}
      <div
        className={isOver ? 'drop-zone over' : 'drop-zone'}
        data-drop="captions"
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setIsOver(false);
          onFile(event.dataTransfer.files[0]);
        }}
      >
        <Text size="sm">{file?.name ?? 'Drop a .vtt or .srt file here.'}</Text>
        <FileButton
          size="xs"
          variant="default"
          label="File with captions"
          accept=".vtt,.srt,text/vtt"
          onFile={onFile}
        >
          Choose file
        </FileButton>
      </div>
      {error !== undefined && <Input.Error role="alert">{error}</Input.Error>}
    </div>
  );
}
