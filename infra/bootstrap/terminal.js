/** Tells what is going on, in one line. */
export function say(text) {
  console.log(`[framelane] ${text}`);
}

/** Ends the bootstrap: one clear sentence on what is wrong, and what to do about it. */
export function fail(text) {
  console.error(`\n[framelane] ${text}\n`);
  process.exit(1);
}
