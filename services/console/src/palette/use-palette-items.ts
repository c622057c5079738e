import BookOpen from 'lucide-react/icons/book-open';
import FileVideo from 'lucide-react/icons/file-video';
import Import from 'lucide-react/icons/import';
import Keyboard from 'lucide-react/icons/keyboard';
import LogOut from 'lucide-react/icons/log-out';
import Upload from 'lucide-react/icons/upload';
import { useLocation } from 'wouter';
import { pagesFor } from '../navigation.ts';
import { DOCS_URL, paths } from '../paths.ts';
import { useAppearance } from '../shell/appearance.ts';
import { useSession } from '../sign-in/session.ts';
import { useNewVideos } from '../uploads/new-videos.tsx';
import { statusWords } from '../videos/video-words.ts';
import { type PaletteItem, withWords } from './palette-items.ts';
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
    ({ name, path, Icon }): PaletteItem => ({
      id: path,
      group: 'Pages',
      name,
      Icon,
      run: () => navigate(path),
    }),
  );
  const action = (name: string, Icon: PaletteItem['Icon'], run: () => void): PaletteItem => ({
    id: name,
    group: 'Actions',
    name,
    Icon,
    run,
  });
  const actions = [
    ...(session.can('videos:write')
      ? [action('Upload files', Upload, chooseFiles), action('Import from URL', Import, openImport)]
      : []),
    action(appearance.words, appearance.Icon, appearance.switch),
    action('Keyboard shortcuts', Keyboard, openShortcuts),
    action('Documentation', BookOpen, () => void open(DOCS_URL, '_blank', 'noopener')),
    action('Sign out', LogOut, signOut),
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
  const known = withWords([...pages, ...actions], text, ({ name }) => name);
  return { items: [...known, ...found], isSettled, error };
}
