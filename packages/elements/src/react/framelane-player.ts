import {
  type CSSProperties,
  createElement,
  forwardRef,
  type HTMLAttributes,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';
import { aspectRatio as ratioOf } from '../player/aspect-ratio.ts';
import type { FramelanePlayerElement, PlayerEventMap } from '../player/player-element.ts';
import { flag } from './flag.ts';
import { useEffectBeforePaint, useListeners } from './use-listeners.ts';

type Handlers = {
  onReady?: (event: PlayerEventMap['ready']) => void;
  onPlay?: (event: PlayerEventMap['play']) => void;
  onPause?: (event: PlayerEventMap['pause']) => void;
  onEnded?: (event: PlayerEventMap['ended']) => void;
  onTimeUpdate?: (event: PlayerEventMap['timeupdate']) => void;
  onProgress?: (event: PlayerEventMap['progress']) => void;
  onError?: (event: PlayerEventMap['error']) => void;
  onTokenExpired?: (event: PlayerEventMap['tokenexpired']) => void;
};

/** The attributes of `<framelane-player>`, its events, and those of every HTML element. */
export type FramelanePlayerProps = Handlers &
  Omit<HTMLAttributes<FramelanePlayerElement>, keyof Handlers | 'children'> & {
    src?: string | undefined;
    baseUrl?: string | undefined;
    workspaceId?: string | undefined;
    videoId?: string | undefined;
    token?: string | undefined;
    /** Seconds. */
    start?: number | undefined;
    color?: string | undefined;
    autoplay?: boolean | undefined;
    muted?: boolean | undefined;
    loop?: boolean | undefined;
    aspectRatio?: string | undefined;
    loading?: 'eager' | 'lazy' | undefined;
  };

/** `<framelane-player>` as a component. The ref is the element with its methods. */
export const FramelanePlayer = forwardRef<FramelanePlayerElement, FramelanePlayerProps>(
  function FramelanePlayer(props, outer) {
    const {
      onReady,
      onPlay,
      onPause,
      onEnded,
      onTimeUpdate,
      onProgress,
      onError,
      onTokenExpired,
      baseUrl,
      workspaceId,
      videoId,
      autoplay,
      muted,
      loop,
      aspectRatio,
      className,
      style,
      ...others
    } = props;
    const element = useRef<FramelanePlayerElement>(null);
    useImperativeHandle<FramelanePlayerElement | null, FramelanePlayerElement | null>(
      outer,
      () => element.current,
      [],
    );
    const [isDefined, setDefined] = useState(false);
    useEffectBeforePaint(() => setDefined(true), []);
    useListeners(element, {
      ready: onReady,
      play: onPlay,
      pause: onPause,
      ended: onEnded,
      timeupdate: onTimeUpdate,
      progress: onProgress,
      error: onError,
      tokenexpired: onTokenExpired,
    });
    return createElement('framelane-player', {
      ...others,
      ref: element,
      // React before 19 takes only `class` for custom elements.
      class: className,
      // Later the element has its size by itself: a style attribute would win over `hidden` and the CSS of the page.
      style: isDefined ? style : { ...size(aspectRatio), ...style },
      'base-url': baseUrl,
      'workspace-id': workspaceId,
      'video-id': videoId,
      'aspect-ratio': aspectRatio,
      autoplay: flag(autoplay),
      muted: flag(muted),
      loop: flag(loop),
    });
  },
);

/** A page from a server has the place of the player before the element is defined. */
function size(aspectRatio = '16/9'): CSSProperties {
  return { display: 'block', aspectRatio: ratioOf(aspectRatio) ?? '16 / 9' };
}
