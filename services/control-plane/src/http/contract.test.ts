import { expect, test } from '@jest/globals';
import { loadContract } from './contract.ts';

test('each address in the contract is that of its service, even if the other service has it in the published contract', () => {
  const published = loadContract({ baseUrl: 'http://localhost:8080/v1', engineUrl: 'http://localhost:8090' });
  const swapped = loadContract({ baseUrl: 'http://localhost:8090/v1', engineUrl: 'http://localhost:8080' });
  const addressesIn = (contract: object) => JSON.stringify(contract).match(/http:\/\/localhost:80\d0/g) ?? [];
  const addresses = addressesIn(published);
  expect(new Set(addresses)).toEqual(new Set(['http://localhost:8080', 'http://localhost:8090']));
  const other = {
    'http://localhost:8080': 'http://localhost:8090',
    'http://localhost:8090': 'http://localhost:8080',
  };
  expect(addressesIn(swapped)).toEqual(addresses.map((address) => other[address as keyof typeof other]));
});
