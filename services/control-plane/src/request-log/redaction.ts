import { DescribedValue, type Resolve, type Schema } from './described-value.ts';
import { isTypeId, originOf, scrubbed } from './shown-text.ts';

/** Characters of the JSON of a stored body, about. */
const BODY_CHARACTERS = 16_384;

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))?$/;

const LEFT_OUT = '[left out]';

/**
 * Copies values so that they can be stored (ADR 100): nothing of them is kept unless the contract describes it and its kind is known to be
 * harmless. So a field that nobody has thought of is left out, rather than stored.
 */
export class Redaction {
  readonly #resolve: Resolve;
  readonly #described = new WeakMap<Schema, DescribedValue>();

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** The copy of a value. It has a bounded size, and reading a large value ends where the copy does. */
  redact(value: unknown, schema: Schema | undefined): unknown {
    return copyOf(value, schema && this.#describe(schema), { left: BODY_CHARACTERS });
  }

  #describe(schema: Schema): DescribedValue {
    const known = this.#described.get(schema);
    if (known !== undefined) return known;
    const described = new DescribedValue([schema], this.#resolve);
    this.#described.set(schema, described);
    return described;
  }
}

type Budget = { left: number };

function copyOf(value: unknown, described: DescribedValue | undefined, budget: Budget): unknown {
  budget.left -= 4;
  if (value === null || typeof value === 'boolean') return value;
  if (described === undefined) return spent(budget, LEFT_OUT);
  if (typeof value === 'number') return spent(budget, value);
  if (typeof value === 'string') return spent(budget, textOf(value, described));
  if (Array.isArray(value)) return itemsOf(value, described, budget);
  return typeof value === 'object' ? membersOf(value, described, budget) : spent(budget, LEFT_OUT);
}

function itemsOf(values: readonly unknown[], described: DescribedValue, budget: Budget): unknown[] {
  const item = described.item();
  const copy: unknown[] = [];
  for (const value of values) {
    if (budget.left <= 0) {
      copy.push('[truncated]');
      break;
    }
    copy.push(copyOf(value, item, budget));
  }
  return copy;
}

/** Names of members that the contract does not know, such as those of metadata, can be personal, too. Their number remains. */
function membersOf(value: object, described: DescribedValue, budget: Budget): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  let leftOut = 0;
  for (const name of Object.keys(value)) {
    const member = described.member(name);
    if (member === undefined) {
      leftOut += 1;
      continue;
    }
    if (budget.left <= 0) return { ...copy, '[truncated]': true };
    budget.left -= name.length;
    copy[name] = copyOf(value[name as keyof typeof value], member, budget);
  }
  if (leftOut > 0) copy[LEFT_OUT] = leftOut;
  return copy;
}

function spent<T extends string | number>(budget: Budget, value: T): T {
  budget.left -= String(value).length;
  return value;
}

/** What is stored of a text. */
function textOf(value: string, described: DescribedValue): string | number {
  if (described.known.has(value) || isTypeId(value)) return value;
  // The title of a video can be a birthday.
  if (described.isTime && TIME.test(value)) return value;
  if (described.isLogged) return scrubbed(value, 500);
  // Numbers in a query are texts until they are validated.
  if (described.isNumber && /^-?\d{1,15}$/.test(value)) return Number(value);
  // The path of a URL can be a secret, too: those of some chat services are.
  const origin = described.isUri ? originOf(value) : undefined;
  return origin ?? `[text, length ${value.length}]`;
}
