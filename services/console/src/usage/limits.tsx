import type { Schemas } from '@framelane/client';
import { Progress, Text } from '@mantine/core';
import { formatBytes } from '../ui/format.ts';
import { usedPercent } from './figures.ts';

/** The quotas of the workspace, and what is used of them. */
export function Limits({ limits }: { limits: Schemas['Limits'] }) {
  const { storedBytes, transcodedMinutes, videos, uploads, fileBytes } = limits;
  const { reserved } = storedBytes;
  const reservedWords = reserved > 0 ? `, including ${formatBytes(reserved)} reserved for uploads` : '';
  return (
    <ul className="limits">
      <Limit
        name="Stored"
        {...storedBytes}
        used={storedBytes.used + reserved}
        format={formatBytes}
        more={reservedWords}
      />
      <Limit name="Transcoded this month" {...transcodedMinutes} format={formatMinutes} />
      <Limit name="Videos" {...videos} format={String} />
      <Limit name="Open upload tickets" {...uploads} format={String} />
      <li>
        <Text size="sm" fw={500}>
          Largest file
        </Text>
        <Text size="sm">{fileBytes.limit === null ? 'No limit' : formatBytes(fileBytes.limit)}</Text>
      </li>
    </ul>
  );
}

type LimitProps = {
  name: string;
  used: number;
  limit: number | null;
  format: (value: number) => string;
  more?: string;
};

/** A quota, and what is used of it. An entry of a list with the class `limits`. */
export function Limit({ name, used, limit, format, more = '' }: LimitProps) {
  const percent = usedPercent(used, limit);
  return (
    <li>
      <Text size="sm" fw={500}>
        {name}
      </Text>
      <Text size="sm">
        {limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}`}
        {more}
      </Text>
      {percent !== null && (
        <Progress
          value={percent}
          color={percent < 90 ? 'blue' : 'red'}
          aria-label={`${name}: ${Math.round(percent)} %`}
        />
      )}
    </li>
  );
}

export function formatMinutes(minutes: number): string {
  return `${Number(minutes.toFixed(minutes < 1 ? 2 : 1))} min`;
}
