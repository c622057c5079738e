const LOG_METHODS = new Set(['debug', 'error', 'info', 'log', 'warn']);
const ERROR = /(Error|Failure|Fault|Output|Problem|refusal)$/;

/** Ignores mutants that change only log calls or error messages: most tests do not check that text. */
const ignorer = {
  shouldIgnore(path) {
    if (isLog(path.node)) return 'Only changes the log';
    if (path.isClassProperty() && path.node.key.name === 'name')
      return 'The name of an error or of a background loop';
    if (isText(path) && path.findParent(isError)) return 'The text of an error';
    return undefined;
  },
};

/** Whether a node does nothing but write to the log. */
function isLog(node) {
  switch (node?.type) {
    case 'CallExpression':
      return (
        LOG_METHODS.has(node.callee.property?.name) &&
        /logger$/i.test(nameOf(node.callee.object) ?? nameOf(node.callee.object.property))
      );
    case 'ArrowFunctionExpression':
      return isLog(node.body);
    case 'BlockStatement':
      return node.body.length > 0 && node.body.every(isLog);
    case 'ExpressionStatement':
      return isLog(node.expression);
    case 'IfStatement':
      return isLog(node.consequent) && (node.alternate === null || isLog(node.alternate));
    default:
      return false;
  }
}

/** The name of a variable, or of a public or private property. */
function nameOf(node) {
  return node?.name ?? node?.id?.name;
}

function isText(path) {
  return path.isTemplateLiteral() || (path.isStringLiteral() && path.node.value.includes(' '));
}

/** Whether a node creates an error, or is the `message` from which an error is created later. */
function isError(path) {
  if (path.isNewExpression() || path.isCallExpression()) return ERROR.test(path.node.callee.name);
  return path.isObjectProperty() && path.node.key.name === 'message';
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'messages', value: ignorer }];
