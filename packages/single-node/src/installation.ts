/** How Framelane is installed: the commands that people type, and where its data is unless DATA_DIR says otherwise. */
export type Installation = {
  /** Starts the node. */
  start: string;
  /** What the arguments of `start` follow. */
  startWith: string;
  /** What the arguments of an administration command follow. */
  admin: string;
  dataDir: string;
};

/** A checkout of the repository. */
export const CHECKOUT: Installation = {
  start: 'npm start',
  startWith: 'npm start --',
  admin: 'npm run admin --',
  dataDir: '.data',
};
