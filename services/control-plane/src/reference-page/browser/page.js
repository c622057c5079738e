/* Runs in the browser: shows the API description in #reference with Swagger UI, for reading only, and a way about it. */
const place = document.getElementById('reference');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Keys do not belong in a browser, so there is nothing to fill in and nothing to send. */
const forReading = () => ({ components: { authorizeBtn: () => null, authorizeOperationBtn: () => null } });

/** Above the parameters of an operation the permission it asks for, above its answers curl lines to paste. */
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
  const permissions = security.length === 1 ? (security[0].apiKey ?? []) : [];
  if (permissions.length === 0) return null;
  const names = permissions.map((name) => element('code', { key: name }, name));
  return element('p', { className: 'permissions' }, 'Permission: ', names);
}

function CodeSamples({ element, operation: { 'x-codeSamples': samples = [] } }) {
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

/** Lists all operations by their tags, and the events after them. */
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

/** A link to one operation, in the form that Swagger UI understands when the page is opened with it. */
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
  // Otherwise it would show the description to a validator on the internet.
  validatorUrl: null,
});
