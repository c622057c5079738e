/** A body as handlers get it: what was left out and has a default is there. */
export type WithDefaults<Body, Names extends keyof Body> = Body & Required<Pick<Body, Names>>;
