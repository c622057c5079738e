import type { Schemas } from '@framelane/client';

/** Texts that the owner of a video sets, and their labels. The details show them, and the form changes them. */
export const TEXT_FIELDS = {
  passthrough: 'Id in your system',
} as const satisfies Partial<Record<keyof Schemas['VideoPatch'], string>>;

export type TextField = keyof typeof TEXT_FIELDS;

export const TEXT_FIELD_NAMES = Object.keys(TEXT_FIELDS) as TextField[];

/** Filters of the list by an exact text: their labels and the longest texts. */
export const TEXT_FILTERS = {
  tag: { label: 'Tag', maxLength: 64 },
} as const;

export type TextFilter = keyof typeof TEXT_FILTERS;

export const TEXT_FILTER_NAMES = Object.keys(TEXT_FILTERS) as TextFilter[];

/** An object with a value for each name. */
export function valueOfEach<Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
}
