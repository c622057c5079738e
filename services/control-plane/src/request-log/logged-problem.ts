import type { FieldError } from '@framelane/service-kit/problem';

type ProblemBody = Readonly<Record<string, unknown>> & { errors?: readonly FieldError[] };

/** The names of all fields and parameters of the contract, in lower case. */
export function namesIn(contract: object): ReadonlySet<string> {
  const names = new Set<string>();
  const search = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties, name } = value as { properties?: unknown; name?: unknown };
    if (typeof properties === 'object' && properties !== null) {
      for (const property of Object.keys(properties)) names.add(property.toLowerCase());
    }
    if ('in' in value && typeof name === 'string') names.add(name.toLowerCase());
    Object.values(value).forEach(search);
  };
  search(contract);
  return names;
}

/**
 * A problem without names that the client chose, such as those of metadata: they can be personal. The detail of invalid input repeats its errors,
 * so it is left out.
 */
export function loggedProblem(problem: ProblemBody, known: ReadonlySet<string>): object {
  const { errors } = problem;
  if (errors === undefined) return problem;
  return {
    ...problem,
    detail: 'The request is invalid: see errors.',
    errors: errors.map((error) => ({ ...error, field: knownPart(error.field, known) })),
  };
}

/** `body/metadata/Ann` → `body/metadata/[left out]`. */
function knownPart(field: string, known: ReadonlySet<string>): string {
  const [place, ...names] = field.split('/');
  const shown = names.map((name) =>
    known.has(name.toLowerCase()) || /^\d{1,3}$/.test(name) ? name : '[left out]',
  );
  return [place, ...shown].join('/');
}
