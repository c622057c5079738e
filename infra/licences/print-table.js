import { licenceTable, productionPackages } from './production-packages.js';

console.log(licenceTable(productionPackages()));
