import { useEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';

/** The query of the address that opens the dialog of a page that creates something. */
const CREATE = 'create';

/** The address of a page with its dialog open. */
export function withCreateDialog(path: string): string {
  return `${path}?${CREATE}`;
}

/** Whether the dialog is open. The address loses its query at once, so that a reload does not open the dialog again. */
export function useCreateDialog() {
  const [isOpen, setIsOpen] = useState(false);
  const [path, navigate] = useLocation();
  const isAsked = new URLSearchParams(useSearch()).has(CREATE);
  useEffect(() => {
    if (!isAsked) return;
    setIsOpen(true);
    navigate(path, { replace: true });
  }, [isAsked, path, navigate]);
  return [isOpen, setIsOpen] as const;
}
