import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { REFERENCE_URL } from '@framelane/web-build/docs-placeholders';
import type { Page } from './page.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

type Operation = { operationId: string; summary: string; tags?: string[] };
type Contract = {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, unknown>>;
};

/** The list of all operations of the API, from the contract. */
export function apiPage(section: string): Page {
  const { tags, paths } = readOpenApiDocument() as Contract;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => ({
      path,
      method,
      ...(item[method] as Operation),
    })),
  );
  const parts = tags.map(({ name, description }) => {
    const rows = operations
      .filter((operation) => operation.tags?.includes(name))
      .map(({ method, path, summary }) => `| \`${method.toUpperCase()} ${path}\` | ${summary} |`);
    return rows.length === 0
      ? ''
      : `## ${name}\n\n${description.trim()}\n\n| operation | what it does |\n|---|---|\n${rows.join('\n')}\n`;
  });
  const title = 'API operations';
  const summary = 'The list of all operations of the API.';
  return {
    name: 'api',
    title,
    summary,
    section,
    markdown: `# ${title}

${summary} An installation serves the whole [reference](${REFERENCE_URL}) at \`/v1/docs\`, with all fields, examples and curl lines, and the
OpenAPI description at \`/v1/openapi.json\`. The paths below begin with \`/v1\`; those of uploads are of the engine.

${parts.filter(Boolean).join('\n')}`,
  };
}
