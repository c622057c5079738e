import { expect, test } from '@jest/globals';
import { validateObject } from './kubernetes-schemas.js';

const metadata = { name: 'one' };

test.each([
  [
    'Kubernetes',
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 'http' }] } },
    'port',
  ],
  [
    'KEDA',
    {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata,
      spec: { scaleTargetRef: { name: 'one' }, triggers: [{ type: 'rabbitmq' }] },
    },
    'metadata',
  ],
  [
    'the Prometheus operator',
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PodMonitor',
      metadata,
      spec: { selector: {}, podMetricsEndpoints: [{ port: 8081 }] },
    },
    'port',
  ],
])('an object that violates the schemas of %s is refused by name', async (_whose, object, field) => {
  await expect(validateObject(object)).rejects.toThrow(new RegExp(`${object.kind} one: .*${field}`));
});
