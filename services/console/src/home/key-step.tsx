import { unwrap } from '@framelane/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { CreateKey } from '../keys/create-key.tsx';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Step } from './steps.tsx';

/** Keys that are looked at for one that is active. */
const KEYS = 20;

/** The first step for programs: a key. Only for a session that can read keys. */
export function KeyStep() {
  const { can } = useSession();
  const { data, error, refetch } = useQuery({
    queryKey: ['keys', 'home'],
    queryFn: ({ signal }) => unwrap(api.GET('/api-keys', { params: { query: { limit: KEYS } }, signal })),
  });
  const key = data?.data.find(({ status }) => status === 'active');
  return (
    <Step title="Create an API key" isDone={key !== undefined}>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {key === undefined ? (
        <span className="hint">
          {can('api_keys:write')
            ? 'A program signs its requests with it. In the browser you need none.'
            : 'Somebody with the permission api_keys:write can create one.'}
        </span>
      ) : (
        <span className="hint">
          {key.name}: <span className="small-code">{`${key.prefix}…${key.last4}`}</span>
        </span>
      )}
      {data !== undefined && key === undefined && can('api_keys:write') && (
        <CreateKey variant="default" size="xs" />
      )}
    </Step>
  );
}
