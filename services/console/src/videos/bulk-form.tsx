import type { Video } from '@framelane/client';
import { Stack, Text, TextInput } from '@mantine/core';
import { FormButtons } from '../ui/form-buttons.tsx';
import { readTags } from './bulk.ts';
import type { BulkAction } from './bulk-tasks.ts';
import { BULK_WORDS, consequencesOf, matchesCount } from './bulk-words.ts';
import { videosOf } from './range-words.ts';
import { completeTyped, splitTyped, suggestedTags, tagsOf } from './suggested-tags.ts';
import { TagSuggestions } from './tag-suggestions.tsx';
import { useTags } from './use-tags.ts';

type BulkFormProps = {
  action: BulkAction;
  /** Those that the action changes, and how many of the chosen ones it cannot change. */
  videos: readonly Video[];
  others: number;
  typed: string;
  onType: (typed: string) => void;
  onSubmit: () => void;
  onCancel: () => void;
};

/** What a bulk action does, and what it has to know: the tags, or that so many videos are meant. */
export function BulkForm({ action, videos, others, typed, onType, onSubmit, onCancel }: BulkFormProps) {
  const count = videos.length;
  const used = useTags(splitTyped(typed).typed);
  const isDeletion = action === 'delete';
  const hasTags = action === 'add' || action === 'remove';
  const isValid = isDeletion ? matchesCount(typed, count) : hasTags ? readTags(typed).length > 0 : count > 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onSubmit();
      }}
    >
      <Stack>
        {consequencesOf(action, videos, others).map((sentence) => (
          <Text key={sentence}>{sentence}</Text>
        ))}
        {(isDeletion || hasTags) && (
          <TextInput
            label={
              isDeletion ? `Type the number of videos to confirm: ${count}` : `Tags of ${videosOf(count)}`
            }
            description={isDeletion ? undefined : 'Separate several with commas.'}
            inputMode={isDeletion ? 'numeric' : undefined}
            value={typed}
            onChange={({ currentTarget }) => onType(currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        {hasTags && (
          <TagSuggestions
            tags={suggestedTags(action === 'remove' ? tagsOf(videos) : used, splitTyped(typed))}
            onChoose={(tag) => onType(completeTyped(typed, tag))}
          />
        )}
        <FormButtons
          cancel={isDeletion ? 'Keep' : 'Cancel'}
          onCancel={onCancel}
          submit={BULK_WORDS[action].submit}
          color={isDeletion ? 'red' : 'blue'}
          disabled={!isValid}
          loading={false}
        />
      </Stack>
    </form>
  );
}
