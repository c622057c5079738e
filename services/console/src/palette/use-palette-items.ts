import BookOpen from 'lucide-react/icons/book-open';
import FileVideo from 'lucide-react/icons/file-video';
import Hash from 'lucide-react/icons/hash';
import Import from 'lucide-react/icons/import';
import KeyRound from 'lucide-react/icons/key-round';
import Keyboard from 'lucide-react/icons/keyboard';
import LogOut from 'lucide-react/icons/log-out';
import Upload from 'lucide-react/icons/upload';
import Webhook from 'lucide-react/icons/webhook';
import { useLocation } from 'wouter';
import { pagesFor } from '../navigation.ts';
import { DOCS_URL, paths } from '../paths.ts';
import { useAppearance } from '../shell/appearance.ts';
import { useSession } from '../sign-in/session.ts';
import { withCreateDialog } from '../ui/create-dialog.ts';
import { useNewVideos } from '../uploads/new-videos.tsx';
import { statusWords } from '../videos/video-words.ts';
import { matching, type PaletteItem, pageOfId } from './palette-items.ts';
import { useFoundVideos } from './use-found-videos.ts';

export type ShellActions = { openShortcuts: () => void; signOut: () => void };

/** What the palette offers for a text: first what is known at once, then videos, so that nothing moves when those arrive. */
export function usePaletteItems(text: string, { openShortcuts, signOut }: ShellActions) {
  const session = useSession();
  const [, navigate] = useLocation();
  const appearance = useAppearance();
  const { chooseFiles, openImport } = useNewVideos();
  const { videos, isSettled, error } = useFoundVideos(text);
  const pages = pagesFor(session).map(
    ({ name, path, keywords, Icon }): PaletteItem => ({
      id: path,
      group: 'Pages',
      name,
      keywords,
      Icon,
      run: () => navigate(path),
    }),
  );
  const action = (name: string, Icon: PaletteItem['Icon'], run: () => void, keywords = ''): PaletteItem => ({
    id: name,
    group: 'Actions',
    name,
    keywords,
    Icon,
    run,
  });
  const actions = [
    ...(session.can('videos:write')
      ? [action('Upload files', Upload, chooseFiles), action('Import from URL', Import, openImport)]
      : []),
    ...(session.can('api_keys:read') && session.can('api_keys:write')
      ? [action('Create key', KeyRound, () => navigate(withCreateDialog(paths.keys)), 'api keys tokens')]
      : []),
    ...(session.can('webhooks:read') && session.can('webhooks:write')
      ? [action('Create webhook', Webhook, () => navigate(withCreateDialog(paths.webhooks)))]
      : []),
    action(appearance.words, appearance.Icon, appearance.switch, 'settings theme'),
    action('Keyboard shortcuts', Keyboard, openShortcuts, 'help'),
    action('Documentation', BookOpen, () => void open(DOCS_URL, '_blank', 'noopener'), 'help guide'),
    action('Sign out', LogOut, signOut, 'log out'),
  ];
  const found = videos.map(
    (video): PaletteItem => ({
      id: video.id,
      group: 'Videos',
      name: video.title,
      hint: statusWords(video),
      Icon: FileVideo,
      run: () => navigate(paths.video(video.id)),
    }),
  );
  const byId = pageOfId(text);
  const known: PaletteItem[] =
    byId !== undefined && session.can(byId.needs)
      ? [{ id: byId.path, group: 'Pages', name: byId.name, Icon: Hash, run: () => navigate(byId.path) }]
      : matching([...pages, ...actions], text);
  return { items: [...known, ...found], isSettled, error };
}
