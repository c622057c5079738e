import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import type { Cluster } from '../cluster.ts';

/** What is measured: once for each service, or once for the database. */
export const MEASURES = {
  memory: { title: 'Memory of each service', unit: 'MiB' },
  descriptors: { title: 'Open file descriptors of each service', unit: '' },
  connections: { title: 'Connections to the database', unit: '' },
  deadRows: { title: 'Dead rows of the database, of all rows', unit: '%' },
  databaseSize: { title: 'Size of the database', unit: 'MiB' },
} as const;

export type Measure = keyof typeof MEASURES;

/** A value of a series, some minutes after the start. */
export type Sample = { measure: Measure; series: string; minutes: number; value: number };

const MIB = 1024 ** 2;

/** Measures a cluster now. A service that does not run has no samples. */
export async function takeSamples(cluster: Cluster, minutes: number): Promise<Sample[]> {
  const samples = await Promise.all([
    ...cluster.services.map(async ({ name, internalUrl }) => {
      const metrics = await PrometheusText.scrape(`${internalUrl}/metrics`).catch(() => undefined);
      if (metrics === undefined) return [];
      const metric = (series: string) => metrics.series.get(series) ?? Number.NaN;
      return [
        { measure: 'memory' as const, series: name, value: metric('process_resident_memory_bytes') / MIB },
        { measure: 'descriptors' as const, series: name, value: metric('process_open_fds') },
      ];
    }),
    databaseSamples(cluster).catch(() => []),
  ]);
  return samples.flat().map((sample) => ({ ...sample, minutes }));
}

async function databaseSamples({ postgres }: Cluster) {
  const [found] = await postgres.query<{ connections: number; dead: number; size: number }>(`
    select
      (select count(*) from pg_stat_activity where backend_type = 'client backend')::float8 as connections,
      (select 100.0 * sum(n_dead_tup) / greatest(1, sum(n_live_tup + n_dead_tup)) from pg_stat_user_tables)::float8 as dead,
      pg_database_size(current_database())::float8 as size`);
  if (found === undefined) return [];
  return [
    { measure: 'connections' as const, series: 'database', value: found.connections },
    { measure: 'deadRows' as const, series: 'database', value: found.dead },
    { measure: 'databaseSize' as const, series: 'database', value: found.size / MIB },
  ];
}
