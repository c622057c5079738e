/** Uploads a file and prints the peak memory of this process, in bytes. */
import { upload } from '../../src/node.ts';

const [path = '', uploadUrl = ''] = process.argv.slice(2);
await upload(path, { uploadUrl, uploadToken: 'ut_secret' });
process.stdout.write(String(process.resourceUsage().maxRSS * 1024));
