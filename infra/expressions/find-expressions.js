import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';

/** What stands for a value that is known only at run time. It must be a plain word there, as the name in `^${name}=`. */
const WORD = 'word';

/**
 * The regular expressions of a file of JavaScript or TypeScript, as `{ pattern, flags }`: the literals, and the arguments of `RegExp`, with
 * the constants of the file inserted. Throws if the file cannot be parsed.
 */
export function findExpressions(path) {
  return expressionsIn(readFileSync(path, 'utf8'), path);
}

/** The same for the text of a file. */
export function expressionsIn(text, path) {
  const constants = new Map();
  const found = [];
  visit(parse(text, path), (node) => {
    if (node.type === 'VariableDeclarator') constants.set(node.id.value, textOf(node.init, constants));
    const expression = expressionOf(node, constants);
    if (expression !== undefined) found.push(expression);
  });
  return found;
}

function parse(text, path) {
  const isTypeScript = /\.[cm]?tsx?$/.test(path);
  const syntax = isTypeScript
    ? { syntax: 'typescript', tsx: path.endsWith('x') }
    : { syntax: 'ecmascript', jsx: true };
  return parseSync(text, { ...syntax, target: 'es2024' });
}

function visit(node, onNode) {
  if (typeof node !== 'object' || node === null) return;
  if (typeof node.type === 'string') onNode(node);
  for (const child of Object.values(node)) visit(child, onNode);
}

function expressionOf(node, constants) {
  if (node.type === 'RegExpLiteral') return { pattern: node.pattern, flags: node.flags };
  if (node.callee?.type !== 'Identifier' || node.callee.value !== 'RegExp') return undefined;
  const [pattern, flags] = (node.arguments ?? []).map(({ expression }) => expression);
  // A literal as the argument is found by itself.
  if (pattern === undefined || pattern.type === 'RegExpLiteral') return undefined;
  return { pattern: textOf(pattern, constants) ?? WORD, flags: textOf(flags, constants) ?? '' };
}

/** The text of an expression; undefined if it is no text, or is known only at run time. */
function textOf(node, constants) {
  switch (node?.type) {
    case 'StringLiteral':
      return node.value;
    case 'Identifier':
      return constants.get(node.value);
    case 'TemplateLiteral':
      return joined(node, 'cooked', constants);
    case 'TaggedTemplateExpression':
      return joined(node.template, 'raw', constants);
    case 'BinaryExpression':
      if (node.operator !== '+') return undefined;
      return [node.left, node.right].map((side) => textOf(side, constants) ?? WORD).join('');
    case 'ParenthesisExpression':
      return textOf(node.expression, constants);
    default:
      return undefined;
  }
}

function joined({ quasis, expressions }, form, constants) {
  const values = expressions.map((expression) => textOf(expression, constants) ?? WORD);
  return quasis.map((part, at) => `${part[form]}${values[at] ?? ''}`).join('');
}
