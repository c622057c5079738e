import CircleCheck from 'lucide-react/icons/circle-check';
import CircleDashed from 'lucide-react/icons/circle-dashed';
import CircleX from 'lucide-react/icons/circle-x';
import Import from 'lucide-react/icons/import';
import LoaderCircle from 'lucide-react/icons/loader-circle';
import Upload from 'lucide-react/icons/upload';
import type { Icon } from '../ui/icon.ts';
import type { StatusIcon } from './video-words.ts';

/** The icon of each status. */
export const STATUS_ICONS: Record<StatusIcon | 'uploading', Icon> = {
  waiting: CircleDashed,
  uploading: Upload,
  importing: Import,
  processing: LoaderCircle,
  ready: CircleCheck,
  failed: CircleX,
};
