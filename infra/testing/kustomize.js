import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

/** The fields of a kustomization that `renderKustomization` knows. */
const FIELDS = [
  'apiVersion',
  'kind',
  'namespace',
  'resources',
  'images',
  'configMapGenerator',
  'secretGenerator',
];

/**
 * The objects that `kubectl apply -k` would create from a folder, in the order of the files. Throws an Error for a
 * kustomization with other fields than those of this project.
 */
export function renderKustomization(folder) {
  const read = (name) => readFileSync(join(folder, name), 'utf8');
  const kustomization = parse(read('kustomization.yaml'));
  const unknown = Object.keys(kustomization).filter((field) => !FIELDS.includes(field));
  if (unknown.length > 0)
    throw new Error(`The test cannot render the fields ${unknown} of kustomization.yaml`);
  const resources = kustomization.resources.flatMap((name) =>
    parseAllDocuments(read(name)).map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS();
    }),
  );
  const generated = [
    ...kustomization.configMapGenerator.map((each) => ['ConfigMap', each]),
    ...kustomization.secretGenerator.map((each) => ['Secret', each]),
  ].map(([kind, { name, envs, options = {} }]) => {
    const data = Object.assign({}, ...envs.map((file) => variablesIn(read(file))));
    const object = kind === 'Secret' ? secret(name, data) : configMap(name, data);
    const renamed = options.disableNameSuffixHash ? name : `${name}-${hashOf(object)}`;
    return { from: { kind, name }, object: { ...object, metadata: { name: renamed } } };
  });
  for (const { spec } of resources.filter(({ kind }) => kind === 'Deployment')) {
    for (const container of spec.template.spec.containers) {
      container.image = renameImage(container.image, kustomization.images);
      for (const { configMapRef, secretRef } of container.envFrom) {
        renameReference(configMapRef, 'ConfigMap', generated);
        renameReference(secretRef, 'Secret', generated);
      }
    }
  }
  const objects = [...resources, ...generated.map(({ object }) => object)];
  for (const { kind, metadata } of objects) {
    if (kind !== 'Namespace') metadata.namespace = kustomization.namespace;
  }
  return objects;
}

/** The variables of an `envs` file. */
function variablesIn(text) {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

function configMap(name, data) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

function secret(name, data) {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const type = 'Opaque';
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type, data: Object.fromEntries(encoded) };
}

/** The suffix that kustomize adds to a name (api/hasher of kubernetes-sigs/kustomize, which omits the name itself). */
function hashOf({ kind, type, data }) {
  const sorted = Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
  const json = JSON.stringify({ data: sorted, kind, name: '', type });
  const letters = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };
  const hash = createHash('sha256').update(json).digest('hex').slice(0, 10);
  return hash.replace(/[013ae]/g, (digit) => letters[digit]);
}

function renameImage(image, images) {
  const found = images.find(({ name }) => name === image);
  return found === undefined ? image : `${image}:${found.newTag}`;
}

/** Changes a reference to a generated object to its name with the suffix. */
function renameReference(reference, kind, generated) {
  const target = generated.find(({ from }) => from.kind === kind && from.name === reference?.name);
  if (target !== undefined) reference.name = target.object.metadata.name;
}
