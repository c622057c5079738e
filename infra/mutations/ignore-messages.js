const LOG_METHODS = new Set(['debug', 'info', 'warn', 'error']);

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

function isError(path) {
  return path.isNewExpression() && /(Error|Problem)$/.test(path.node.callee.name);
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'messages', value: ignorer }];
