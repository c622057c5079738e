import Keyboard from 'lucide-react/icons/keyboard';
import LogOut from 'lucide-react/icons/log-out';
import { useSession } from '../sign-in/session.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { useAppearance } from './appearance.ts';
import type { SidebarActions } from './sidebar.tsx';

/** Who is signed in, and what is theirs. */
export function Account({ openShortcuts, leaving }: Pick<SidebarActions, 'openShortcuts' | 'leaving'>) {
  const { name, email } = useSession();
  const appearance = useAppearance();
  return (
    <div className="account">
      <span className="account-name" title={email ?? name}>
        {name}
      </span>
      <IconButton label={appearance.words} Icon={appearance.Icon} onClick={appearance.switch} />
      <IconButton label="Keyboard shortcuts" Icon={Keyboard} onClick={openShortcuts} />
      <IconButton
        label="Sign out"
        Icon={LogOut}
        disabled={leaving.isPending}
        onClick={() => leaving.mutate()}
      />
    </div>
  );
}
