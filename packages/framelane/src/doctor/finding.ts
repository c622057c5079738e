/** What a check has found. Only `failed` means that Framelane does not work. */
export type Finding = {
  title: string;
  status: 'passed' | 'warning' | 'failed';
  detail: string;
  /** What to do. */
  advice?: string;
};

export function passed(title: string, detail: string): Finding {
  return { title, status: 'passed', detail };
}

export function warning(title: string, detail: string, advice: string): Finding {
  return { title, status: 'warning', detail, advice };
}

export function failed(title: string, detail: string, advice?: string): Finding {
  return { title, status: 'failed', detail, ...(advice !== undefined && { advice }) };
}
