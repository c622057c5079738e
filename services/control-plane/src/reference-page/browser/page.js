/* Runs in the browser: shows the API description in #reference with Swagger UI, for reading only. */
const place = document.getElementById('reference');

/** Keys do not belong in a browser, so there is nothing to fill in and nothing to send. */
const forReading = () => ({ components: { authorizeBtn: () => null, authorizeOperationBtn: () => null } });

/** Above the answers of an operation: the permissions it asks for, and curl lines to paste. */
const curlLines = ({ React: { createElement: element } }) => ({
  wrapComponents: {
    responses: (Original, system) => (props) => {
      const operation = system.specSelectors.specJson().getIn(['paths', props.path, props.method]);
      return element(
        'div',
        null,
        operation && element(Permissions, { element, operation }),
        operation && element(CodeSamples, { element, operation }),
        element(Original, props),
      );
    },
  },
});

function Permissions({ element, operation }) {
  const requirements = operation.get('security')?.toJS() ?? [];
  const permissions = requirements.length === 1 ? (requirements[0].apiKey ?? []) : [];
  if (permissions.length === 0) return null;
  const names = permissions.map((name) => element('code', { key: name }, name));
  return element('p', { className: 'permissions' }, 'Permission: ', names);
}

function CodeSamples({ element, operation }) {
  const samples = operation.get('x-codeSamples')?.toJS() ?? [];
  return element(
    'section',
    { className: 'code-samples' },
    element('h4', null, 'Example'),
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

SwaggerUIBundle({
  domNode: place,
  url: place.dataset.description,
  plugins: [forReading, curlLines],
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: [],
  // Otherwise it would show the description to a validator on the internet.
  validatorUrl: null,
});
