import { writeStaticSite } from './static-site.js';

/** `pnpm docs:build <folder> [base URL]`: writes the documentation as static files. */
const [folder, baseUrl] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Name the folder for the files: pnpm docs:build <folder> [URL at which it will be served]');
  process.exit(1);
}
await writeStaticSite(folder, baseUrl);
console.log(`The documentation is in ${folder}.`);
