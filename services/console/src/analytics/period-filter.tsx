import { NativeSelect } from '@mantine/core';
import { PeriodFields } from '../ui/period-fields.tsx';
import { asOwn, LENGTHS, type Period } from './period.ts';

type PeriodFilterProps = { period: Period; onChange: (period: Period) => void };

/** Chooses the days that the figures are of. */
export function PeriodFilter({ period, onChange }: PeriodFilterProps) {
  const choose = (value: string) => {
    const days = LENGTHS.find((each) => each === value);
    onChange(days === undefined ? asOwn(period, Date.now()) : { days, from: '', to: '' });
  };
  return (
    <search className="filters period-filter">
      <NativeSelect
        label="Period"
        value={period.days}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={[
          ...LENGTHS.map((days) => ({ value: days, label: `Last ${days} days` })),
          { value: 'own', label: 'Own period' },
        ]}
      />
      {period.days === 'own' && (
        <PeriodFields
          type="date"
          labels={['First day', 'Last day']}
          from={period.from}
          to={period.to}
          onChange={(changed) => onChange({ ...period, ...changed })}
        />
      )}
    </search>
  );
}
