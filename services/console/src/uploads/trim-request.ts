import type { UploadTicketRequest } from '@framelane/client';
import { formatTypedTime, parseTypedTime, UNREADABLE_TIME } from '../ui/typed-time.ts';

/** The trim of a new video, as tickets and imports have it. */
export type TrimRequest = NonNullable<UploadTicketRequest['trim']>;

/** The input in the form: times such as `1:02.5`, or empty. */
export type TrimForm = { start: string; end: string };

/** The form for a trim. */
export function trimForm(request: TrimRequest = {}): TrimForm {
  const { start, end } = request;
  return {
    start: start === undefined ? '' : formatTypedTime(start),
    end: end == null ? '' : formatTypedTime(end),
  };
}

/** The request of the form, undefined if both times are empty; or what is wrong with them. The API checks the rest. */
export function trimRequest(
  form: TrimForm,
): { trim: TrimRequest | undefined; errors?: undefined } | { trim?: undefined; errors: Partial<TrimForm> } {
  const times = { start: timeOf(form.start), end: timeOf(form.end) };
  const errors = {
    ...(times.start === undefined && { start: UNREADABLE_TIME }),
    ...(times.end === undefined && { end: UNREADABLE_TIME }),
  };
  if (Object.keys(errors).length > 0) return { errors };
  const { start, end } = times;
  if (end != null && end <= (start ?? 0)) return { errors: { end: 'The part must end after it begins.' } };
  const trim = { ...(start != null && { start }), ...(end != null && { end }) };
  return { trim: Object.keys(trim).length > 0 ? trim : undefined };
}

/** Null for an empty text, undefined for one that is no time. */
function timeOf(text: string): number | null | undefined {
  return text.trim() === '' ? null : parseTypedTime(text);
}
