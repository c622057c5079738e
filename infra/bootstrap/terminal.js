/** Tells what is going on, in one line; standard output is for what the program itself has to say. */
export function say(text) {
  console.error(`[framelane] ${text}`);
}

/** Ends the bootstrap: one clear sentence on what is wrong, and what to do about it. */
export function fail(text) {
  console.error(`\n[framelane] ${text}\n`);
  process.exit(1);
}
