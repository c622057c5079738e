import { Link, useLocation } from 'wouter';
import { isBelow, pagesFor } from '../navigation.ts';
import { useSession } from '../sign-in/session.ts';

/** A link to each page that the session can open. */
export function PageLinks() {
  const session = useSession();
  const [path] = useLocation();
  return (
    <nav aria-label="Pages">
      {pagesFor(session).map(({ name, path: to, Icon }) => {
        const isCurrent = isBelow(path, to);
        return (
          <Link
            key={to}
            href={to}
            className={isCurrent ? 'side-item active' : 'side-item'}
            aria-current={isCurrent ? 'page' : undefined}
          >
            <Icon />
            {name}
          </Link>
        );
      })}
    </nav>
  );
}
