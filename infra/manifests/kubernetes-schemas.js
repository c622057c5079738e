/** The npm packages with the schemas of each API group. Those of Kubernetes itself are in `kubernetes-models`. */
const PACKAGES = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

/** Throws an Error that names the field if an object violates the schema of its kind. Unknown fields violate no schema. */
export async function validateObject(object) {
  const { apiVersion, kind } = object;
  const source = PACKAGES[apiVersion.split('/')[0]] ?? 'kubernetes-models';
  const { [kind]: Model } = await import(`${source}/${apiVersion}/${kind}`);
  try {
    new Model(object).validate();
  } catch (error) {
    throw new Error(`${kind} ${object.metadata.name}: ${error.message}`, { cause: error });
  }
}
