import X from 'lucide-react/icons/x';
import { createContext, type ReactNode, use, useCallback, useEffect, useState } from 'react';
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
  const [toast, setToast] = useState<Toast>();
  const [isHeld, setIsHeld] = useState(false);
  const close = useCallback(() => setToast(undefined), []);
  useEffect(() => {
    if (toast === undefined || isHeld) return;
    const timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [toast, isHeld, close]);
  return (
    <ToastContext value={setToast}>
      {children}
      <div role="status">
        {toast !== undefined && (
          // biome-ignore lint/a11y/noStaticElementInteractions: holds the toast; its buttons do the rest.
          <div
            className="toast"
            onPointerEnter={() => setIsHeld(true)}
            onPointerLeave={() => setIsHeld(false)}
            onFocus={() => setIsHeld(true)}
            onBlur={() => setIsHeld(false)}
          >
            <span>{toast.words}</span>
            {toast.undo && <Undo undo={toast.undo} onEnd={(words) => setToast({ words })} />}
            <IconButton label="Dismiss" Icon={X} onClick={close} />
          </div>
        )}
      </div>
    </ToastContext>
  );
}

function Undo({ undo, onEnd }: { undo: () => Promise<unknown>; onEnd: (words: string) => void }) {
  const [isRunning, setIsRunning] = useState(false);
  const run = async () => {
    setIsRunning(true);
    try {
      await undo();
      onEnd('Undone');
    } catch (error) {
      onEnd(`Not everything was undone: ${wordsFor(error).detail}`);
    }
  };
  return (
    <button type="button" className="toast-undo" disabled={isRunning} onClick={() => void run()}>
      Undo
    </button>
  );
}
