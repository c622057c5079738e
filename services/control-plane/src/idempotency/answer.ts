/** What a client is told: as JSON, or as problem+json when the status is an error. */
export type Answer = { status: number; location?: string; body: Readonly<Record<string, unknown>> };
