import type { ComponentType } from 'react';

/** An icon of Lucide. Import each from its own module, `lucide-react/icons/…`, so that the build reads no others. */
export type Icon = ComponentType<{ className?: string }>;
