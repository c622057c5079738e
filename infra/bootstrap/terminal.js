/** Prints a line of progress to standard error; standard output belongs to the program that the bootstrap runs. */
export function report(text) {
  console.error(`[framelane] ${text}`);
}

/** Exits the bootstrap with a message: what is wrong and what to do. */
export function fail(text) {
  console.error(`\n[framelane] ${text}\n`);
  process.exit(1);
}
