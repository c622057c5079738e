import { Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { api } from '../api/api.ts';
import { pollInterval } from '../api/live.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { ADMIN_PLACE, adminCommand } from '../ui/admin-command.ts';
import { Chart } from '../ui/chart.tsx';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatBytes } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { firstDay, MONTHS, periodWords, type Row, readAddress, rowsOf, secondsOf, toCsv } from './figures.ts';
import { formatMinutes, Limits } from './limits.tsx';

const PERIODS = {
  '0': 'This month',
  '1': 'Since the last month',
  '2': 'Three months',
  '5': 'Six months',
  '11': 'Twelve months',
} as const satisfies Record<(typeof MONTHS)[number], string>;

/** The figures that have a chart. */
const MEASURES = [
  { name: 'Storage', of: (row: Row) => row.storageBytes, format: formatBytes },
  { name: 'Transcoded', of: (row: Row) => row.transcodedMinutes, format: formatMinutes },
  { name: 'Bandwidth', of: (row: Row) => row.bandwidthBytes, format: formatBytes },
] as const;

export function UsagePage() {
  const { months, step } = readAddress(useSearch());
  const [, navigate] = useLocation();
  const from = firstDay(Number(months), Date.now());
  const { data, error, refetch } = useQuery({
    queryKey: ['usage', from],
    queryFn: ({ signal }) => api.account.usage({ from, groupBy: 'day' }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval(false),
  });
  const days = data?.days;
  const rows = useMemo(() => rowsOf(days ?? [], step), [days, step]);
  const change = (changed: { months?: string; by?: string }) =>
    navigate(`${paths.usage}?${new URLSearchParams({ months, by: step, ...changed })}`, { replace: true });
  return (
    <Stack>
      <div className="video-head">
        <PageTitle>Usage</PageTitle>
        <DownloadCsv rows={rows} />
      </div>
      <div className="filters">
        <NativeSelect
          label="Period"
          value={months}
          onChange={({ currentTarget }) => change({ months: currentTarget.value })}
          data={MONTHS.map((value) => ({ value, label: PERIODS[value] }))}
        />
        <NativeSelect
          label="By"
          value={step}
          onChange={({ currentTarget }) => change({ by: currentTarget.value })}
          data={[
            { value: 'day', label: 'Day' },
            { value: 'month', label: 'Month' },
          ]}
        />
      </div>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={4} />}
      {data !== undefined && (
        <>
          <Text>
            {formatBytes(data.storageBytes)} stored in {data.videoCount} videos. In this period:{' '}
            {formatMinutes(data.transcodedMinutes)} transcoded, {formatBytes(data.bandwidthBytes)} sent to
            players.
          </Text>
          <div className="columns">
            {MEASURES.map(({ name, of, format }) => (
              <Measure key={name} name={name} rows={rows} of={of} format={format} />
            ))}
          </div>
          <Title order={2} size="h4">
            Limits
          </Title>
          <Text size="sm">They are for live and test together.</Text>
          <Limits limits={data.limits} />
          <SetLimits />
          <Figures rows={rows} />
        </>
      )}
    </Stack>
  );
}

/** How limits are set: only by the operator, on the command line. */
function SetLimits() {
  const { workspace } = useSession();
  const limits = '--stored-bytes 1TB --transcoded-minutes 3000';
  return (
    <Copy
      label={`The operator sets limits${ADMIN_PLACE}, for example`}
      value={adminCommand(`limits set --workspace ${workspace.id} ${limits}`)}
    />
  );
}

type MeasureProps = {
  name: string;
  rows: readonly Row[];
  of: (row: Row) => number | null;
  format: (value: number) => string;
};

function Measure({ name, rows, of, format }: MeasureProps) {
  const times = useMemo(() => rows.map(({ period }) => secondsOf(period)), [rows]);
  const names = useMemo(() => rows.map(({ period }) => period), [rows]);
  const values = useMemo(() => rows.map(of), [rows, of]);
  return (
    <section>
      <Title order={2} size="h4">
        {name}
      </Title>
      <Chart
        label={`Chart of ${name.toLowerCase()}. The table has the figures.`}
        times={times}
        names={names}
        values={values}
        format={format}
      />
    </section>
  );
}

function Figures({ rows }: { rows: readonly Row[] }) {
  return (
    <details className="figures">
      <summary>Figures</summary>
      <Text size="sm">
        Storage is the value at the end of the day, or of the last recorded day of the month.
      </Text>
      <table>
        <thead>
          <tr>
            <th scope="col">Period (UTC)</th>
            {MEASURES.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.period}>
              <th scope="row">{periodWords(row.period)}</th>
              {MEASURES.map(({ name, of, format }) => {
                const value = of(row);
                return <td key={name}>{value === null ? 'not recorded' : format(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** The Content-Security-Policy of the page allows a link to a blob. */
function DownloadCsv({ rows }: { rows: readonly Row[] }) {
  const { workspace } = useSession();
  const download = () => {
    const url = URL.createObjectURL(new Blob([toCsv(rows)], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `usage-${workspace.id}.csv`;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <Group>
      <Button variant="default" disabled={rows.length === 0} onClick={download}>
        Download CSV
      </Button>
    </Group>
  );
}
