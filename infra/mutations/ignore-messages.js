const LOG_METHODS = new Set(['debug', 'info', 'warn', 'error']);
const ERROR = /(Error|Failure|Fault|Output|Problem|refusal)$/;

/** Leaves out log calls and the texts of errors: tests do not compare words. */
const ignorer = {
  shouldIgnore(path) {
    if (path.isCallExpression() && isLogCall(path.node.callee)) return 'A log call';
    if (isText(path) && path.findParent(isError)) return 'The text of an error';
    return undefined;
  },
};

function isLogCall(callee) {
  return (
    callee.type === 'MemberExpression' &&
    LOG_METHODS.has(callee.property.name) &&
    /logger$/i.test(callee.object.name ?? callee.object.property?.id?.name ?? callee.object.property?.name)
  );
}

function isText(path) {
  return path.isTemplateLiteral() || (path.isStringLiteral() && path.node.value.includes(' '));
}

/** An error, a function that makes one, or the message of an object that becomes one. */
function isError(path) {
  if (path.isNewExpression() || path.isCallExpression()) return ERROR.test(path.node.callee.name);
  return path.isObjectProperty() && path.node.key.name === 'message';
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'messages', value: ignorer }];
