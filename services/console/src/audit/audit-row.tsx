import type { Schemas } from '@framelane/client';
import { Anchor } from '@mantine/core';
import ChevronRight from 'lucide-react/icons/chevron-right';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Age } from '../ui/age.tsx';
import { Fact, Facts } from '../ui/facts.tsx';
import { formatTime } from '../ui/format.ts';
import { type AuditAddress, writeAuditAddress } from './audit-address.ts';
import { actorWords, changeWords, valuesWords } from './audit-words.ts';
import './audit-row.css';

type AuditEvent = Schemas['AuditEvent'];

/** What was done, by whom and when. It opens to all that the log has of it. */
export function AuditRow({ event, filter }: { event: AuditEvent; filter: AuditAddress }) {
  const [words, who] = [changeWords(event), actorWords(event.actor)];
  return (
    <li>
      <details>
        <summary>
          <ChevronRight className="icon" />
          <span className="row-title" title={words}>
            {words}
          </span>
          <span className="row-fact hint" title={who}>
            {who}
          </span>
          <Age time={event.createdAt} className="row-number hint" />
        </summary>
        <AuditFacts event={event} filter={filter} />
      </details>
    </li>
  );
}

function AuditFacts({ event, filter }: { event: AuditEvent; filter: AuditAddress }) {
  const { can } = useSession();
  const { actor, createdAt, operation, requestId, resource, fields, changes } = event;
  // The request log has requests of keys.
  const isLogged = actor.type === 'api_key' && can('requests:read');
  const only = (changed: Partial<AuditAddress>) =>
    `${paths.audit}?${writeAuditAddress({ ...filter, ...changed })}`;
  const texts = fields.filter((field) => !changes.some((each) => each.field === field));
  return (
    <Facts>
      <Fact name="Time">{formatTime(createdAt)}</Fact>
      <Fact name="By">
        {actorWords(actor)}
        {actor.id !== null && (
          <>
            {' '}
            <Anchor component={Link} href={only({ actorId: actor.id })} inherit>
              {actor.id}
            </Anchor>
          </>
        )}
      </Fact>
      <Fact name="Resource">
        <Anchor component={Link} href={only({ resourceId: resource.id })} inherit>
          {resource.id}
        </Anchor>
      </Fact>
      <Fact name="Operation">{operation}</Fact>
      {requestId !== null && (
        <Fact name="Request id">
          {isLogged ? (
            <Anchor component={Link} href={`${paths.requests}?${new URLSearchParams({ requestId })}`} inherit>
              {requestId}
            </Anchor>
          ) : (
            requestId
          )}
        </Fact>
      )}
      {changes.map((change) => (
        <Fact key={change.field} name={change.field}>
          {valuesWords(event.action, change)}
        </Fact>
      ))}
      {texts.length > 0 && event.action === 'updated' && (
        <Fact name="Also changed">{texts.join(', ')} (values are not stored)</Fact>
      )}
    </Facts>
  );
}
