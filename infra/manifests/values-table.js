import { isMap, parseDocument } from 'yaml';

const BEGIN = '<!-- written by `pnpm manifests` -->\n';
const END = '<!-- end -->';

/** The README with the table of these values: the text of values.yaml. */
export function withTable(readme, values) {
  const [before, rest] = readme.split(BEGIN);
  const [, after] = rest.split(END);
  return `${before}${BEGIN}\n${tableOf(values)}\n${END}${after}`;
}

/** A table of all values in a values.yaml, described by the comments above them. Throws an Error for a value without a comment. */
export function tableOf(values) {
  const rows = rowsOf(parseDocument(values).contents);
  const lines = rows.map(
    ({ path, standard, description }) => `| \`${path}\` | \`${standard}\` | ${description} |`,
  );
  return ['| value | default | meaning |', '|---|---|---|', ...lines, ''].join('\n');
}

function rowsOf(map, prefix = '', inherited) {
  return map.items.flatMap(({ key, value }, index) => {
    const path = `${prefix}${key.value}`;
    // The comment above the first key of a map belongs to the map.
    const comment = key.commentBefore ?? (index === 0 ? inherited : undefined);
    const isGroup = isMap(value) && value.items.length > 0 && comment === undefined;
    if (isGroup) return rowsOf(value, `${path}.`, value.commentBefore);
    if (comment === undefined) throw new Error(`infra/helm/values.yaml has no comment above ${path}.`);
    return [{ path, standard: JSON.stringify(value.toJSON()), description: textOf(comment) }];
  });
}

/** The last paragraph of a comment, on one line. */
function textOf(comment) {
  const paragraph = comment.split(/\n\s*\n/).at(-1);
  return paragraph
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .replaceAll('|', '\\|');
}
