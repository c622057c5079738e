import X from 'lucide-react/icons/x';
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { wordsFor } from '../api/problem.ts';
import { IconButton } from './icon-button.tsx';
import './toasts.css';

/** How long a toast is shown. It stays while somebody points at it or has the focus in it. */
const SHOWN_MS = 15_000;

type Toast = {
  /** What has happened. */
  words: string;
  /** Reverses it; undefined for what cannot be undone. */
  undo?: (() => Promise<unknown>) | undefined;
};

type Show = (toast: Toast) => void;

const ToastContext = createContext<Show | undefined>(undefined);

/** Returns a function that says what has happened, on whatever page somebody is then. A new toast replaces the one before. */
export function useToast(): Show {
  const show = use(ToastContext);
  if (show === undefined) throw new Error('There is no provider of toasts');
  return show;
}

export function ToastProvider({ children }: { children: ReactNode }) {
  // A number for each, so that a toast is held or closed only by what happens to it.
  const [{ number, toast }, setShown] = useState<{ number: number; toast?: Toast | undefined }>({
    number: 0,
  });
  const show = useCallback(
    (next?: Toast) => setShown((before) => ({ number: before.number + 1, toast: next })),
    [],
  );
  const close = useCallback(() => show(), [show]);
  return (
    <ToastContext value={show}>
      {children}
      <div role="status">
        {toast !== undefined && <ToastView key={number} toast={toast} show={show} close={close} />}
      </div>
    </ToastContext>
  );
}

function ToastView({ toast: { words, undo }, show, close }: { toast: Toast; show: Show; close: () => void }) {
  const [isPointedAt, setIsPointedAt] = useState(false);
  const [hasFocus, setHasFocus] = useState(false);
  const isHeld = isPointedAt || hasFocus;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHeld, close]);
  useLayoutEffect(() => {
    const view = element.current;
    return () => {
      if (view?.contains(document.activeElement))
        document.getElementById('content')?.focus({ preventScroll: true });
    };
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: holds the toast; its buttons do the rest.
    <div
      ref={element}
      className="toast"
      onPointerEnter={() => setIsPointedAt(true)}
      onPointerLeave={() => setIsPointedAt(false)}
      onFocus={() => setHasFocus(true)}
      onBlur={() => setHasFocus(false)}
    >
      <span>{words}</span>
      {undo && <Undo undo={undo} onEnd={(result) => show({ words: result })} />}
      <IconButton label="Dismiss" Icon={X} onClick={close} />
    </div>
  );
}

function Undo({ undo, onEnd }: { undo: () => Promise<unknown>; onEnd: (words: string) => void }) {
  const [isRunning, setIsRunning] = useState(false);
  const run = async () => {
    if (isRunning) return;
    setIsRunning(true);
    try {
      await undo();
      onEnd('Undone');
    } catch (error) {
      onEnd(`Not everything was undone: ${wordsFor(error).detail}`);
    }
  };
  return (
    // Not `disabled`: that would take the focus away.
    <button type="button" className="toast-undo" aria-disabled={isRunning} onClick={() => void run()}>
      Undo
    </button>
  );
}
