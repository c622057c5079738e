/** What waits in one state of a queue: how much, and for how many seconds the first of it has (0 when there is none). */
export type Backlog = { count: number; oldestSeconds: number };
