/* Runs in the browser: shows the API description in #reference with Swagger UI, read-only, and a list of contents. */
const place = document.getElementById('reference');
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

/** Hides the forms: API keys do not belong in a browser. */
const forReading = () => ({ components: { authorizeBtn: () => null, authorizeOperationBtn: () => null } });

/** Shows the permission of an operation above its parameters, and curl commands above its responses. */
const permissionsAndCurl = ({ React: { createElement: element } }) => {
  const above = (Part, placeOf) => (Original, system) => (props) => {
    const operation = system.specSelectors
      .specJson()
      .getIn(['paths', ...placeOf(props)])
      ?.toJS();
    return element('div', null, operation && element(Part, { element, operation }), element(Original, props));
  };
  return {
    wrapComponents: {
      parameters: above(Permissions, ({ pathMethod }) => pathMethod),
      responses: above(CodeSamples, ({ path, method }) => [path, method]),
    },
  };
};

function Permissions({ element, operation: { security = [] } }) {
  const permissions = security[0]?.apiKey ?? [];
  if (permissions.length === 0) return null;
  const names = permissions.map((name) => element('code', { key: name }, name));
  return element('p', { className: 'permissions' }, 'Permission: ', names);
}

function CodeSamples({ element, operation: { 'x-codeSamples': samples = [] } }) {
  if (samples.length === 0) return null;
  return element(
    'section',
    { className: 'code-samples' },
    element('h4', null, samples.length > 1 ? 'Examples' : 'Example'),
    samples.map(({ label, source }) =>
      element(
        'figure',
        { key: label },
        samples.length > 1 && element('figcaption', null, label),
        element('pre', { tabIndex: 0 }, element('code', null, source)),
      ),
    ),
  );
}

/** Lists all operations by tag, then the events. */
function listContents() {
  const { tags, paths, webhooks } = ui.specSelectors.specJson().toJS();
  const contents = document.getElementById('contents');
  for (const { name } of tags) {
    contents.append(
      ...chapter(
        name,
        name,
        operationsIn(paths).filter((operation) => operation.tags[0] === name),
      ),
    );
  }
  contents.append(...chapter('Events', 'webhooks', operationsIn(webhooks)));
}

function operationsIn(items) {
  return Object.values(items).flatMap((item) =>
    Object.entries(item).flatMap(([key, operation]) => (METHODS.includes(key) ? [operation] : [])),
  );
}

function chapter(title, tag, operations) {
  const heading = document.createElement('h2');
  heading.textContent = title;
  const list = document.createElement('ul');
  list.append(...operations.map((operation) => entry(tag, operation)));
  return [heading, list];
}

/** A link to one operation, in the form that Swagger UI opens. */
function entry(tag, { operationId, summary }) {
  const name = tag.replaceAll(' ', '_');
  const link = document.createElement('a');
  link.textContent = summary;
  link.href = `#/${name}/${operationId}`;
  link.addEventListener('click', () => {
    ui.layoutActions.show(['operations-tag', tag], true);
    ui.layoutActions.show(['operations', tag, operationId], true);
    requestAnimationFrame(() =>
      document.getElementById(`operations-${name}-${operationId}`)?.scrollIntoView(),
    );
  });
  const item = document.createElement('li');
  item.append(link);
  return item;
}

const ui = SwaggerUIBundle({
  domNode: place,
  url: place.dataset.description,
  plugins: [forReading, permissionsAndCurl],
  onComplete: listContents,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: [],
  syntaxHighlight: { theme: 'monokai' },
  // By default Swagger UI sends the description to a public validator.
  validatorUrl: null,
});
