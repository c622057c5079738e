import { PROBLEMS, type ProblemCode } from '@framelane/contracts/problem-codes';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { SITE_URL } from '@framelane/web-build/docs-placeholders';
import type { Page } from './page.ts';
import { PROBLEM_WORDS, type Retry } from './problem-words.ts';

const RETRY: Record<Retry, string> = {
  later: 'Yes. The same request can succeed later.',
  'after-change': 'Not unchanged. The same request gets the same problem.',
  no: 'No.',
};

type Example = Record<string, unknown> & { code: ProblemCode };

/** The list of all problems, and a page about each. Problem+json of Framelane links to them with `type`. */
export function problemPages(section: string): Page[] {
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  const examples = Map.groupBy(examplesIn(readOpenApiDocument()), ({ code }) => code);
  const pages = codes.map((code) => problemPage(code, examples.get(code)?.[0], section));
  return [listPage(codes, section), ...pages];
}

function problemPage(code: ProblemCode, example: Example | undefined, section: string): Page {
  const { status, title } = PROBLEMS[code];
  const { when, action, retry, guide } = PROBLEM_WORDS[code];
  const more = guide === undefined ? '' : `\n\nMore: [the guide](${SITE_URL}${guide}).`;
  const shown =
    example === undefined ? '' : `\n\n## Example\n\n\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``;
  return {
    name: `errors/${code}`,
    title: code,
    summary: `${title}: ${when}`,
    section,
    markdown: `# ${code}

**${title}**, HTTP status ${status}. \`${code}\` is the \`code\` of the [problem](${SITE_URL}errors) in the response.

## When it happens

${when}

## What to do

${action}${more}

## Can it be retried?

${RETRY[retry]}${shown}
`,
  };
}

function listPage(codes: readonly ProblemCode[], section: string): Page {
  const title = 'Errors';
  const summary = 'A list of all problem codes, with a page about each.';
  const statuses = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  const parts = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, ofStatus]) => `## Status ${status}\n\n${table(ofStatus)}\n`);
  return {
    name: 'errors',
    title,
    summary,
    section,
    markdown: `# ${title}

The response to a request that fails is \`application/problem+json\` (RFC 9457). Its \`code\` never changes its meaning, so programs compare it.
Its \`type\` is the URL of a page below. Its \`detail\` says what is wrong with this request, for people. Quote the \`requestId\` when you report a
problem. Why a video fails is not a problem of a request: see [accepted files](${SITE_URL}inputs#why-a-video-fails).

${parts.join('\n')}`,
  };
}

function table(codes: readonly ProblemCode[]): string {
  const rows = codes.map(
    (code) => `| [\`${code}\`](${SITE_URL}errors/${code}) | ${PROBLEM_WORDS[code].when} |`,
  );
  return `| code | when it happens |\n|---|---|\n${rows.join('\n')}`;
}

/** Every problem that a value of the contract shows as an example. */
function examplesIn(value: unknown): Example[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, code } = value as { type?: unknown; code?: unknown };
  if (typeof type === 'string' && typeof code === 'string' && code in PROBLEMS) return [value as Example];
  return Object.values(value).flatMap(examplesIn);
}
