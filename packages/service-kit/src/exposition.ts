/** Metrics as Prometheus would take them in. */
export class Exposition {
  /** The value of each series, by its name with its labels as they are written. */
  readonly series = new Map<string, number>();
  readonly #types = new Map<string, string>();
  #family = '';

  /**
   * Reads the text format of Prometheus, version 0.0.4, and keeps it to the letter: every family described once and in one
   * piece, no series twice, histograms that add up. Throws an Error that quotes the line that is wrong. For tests.
   */
  static parse(text: string): Exposition {
    if (!text.endsWith('\n')) throw new Error('The last line has no end');
    const exposition = new Exposition();
    for (const line of text.split('\n')) exposition.#read(line);
    exposition.#checkHistograms();
    return exposition;
  }

  /** The series whose name begins so, in the order of their names. */
  withPrefix(prefix: string): Record<string, number> {
    const found = [...this.series].filter(([name]) => name.startsWith(prefix));
    return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** By how much each series has grown since `before`, those that have not left out. */
  growthSince(before: Exposition, prefix: string): Record<string, number> {
    const grown = Object.entries(this.withPrefix(prefix))
      .map(([name, value]) => [name, value - (before.series.get(name) ?? 0)] as const)
      .filter(([, growth]) => growth !== 0);
    return Object.fromEntries(grown);
  }

  #read(line: string): void {
    if (line === '') return;
    const [, keyword, described = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === undefined) this.#readSample(line);
    else if (keyword === 'HELP') this.#open(described, line);
    else this.#setType(described, rest, line);
  }

  #open(family: string, line: string): void {
    if (!METRIC_NAME.test(family) || this.#types.has(family)) throw wrong(line);
    this.#family = family;
    this.#types.set(family, '');
  }

  #setType(family: string, type: string, line: string): void {
    if (family !== this.#family || !TYPES.includes(type)) throw wrong(line);
    // The conventions of Prometheus: what only grows is called a total.
    if (family.startsWith('framelane_') && (type === 'counter') !== family.endsWith('_total'))
      throw wrong(line);
    this.#types.set(family, type);
  }

  #readSample(line: string): void {
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const type = this.#types.get(this.#family);
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    const number = SPECIAL[value.toLowerCase()] ?? Number(value);
    const isOfFamily = suffixes.some((suffix) => name === this.#family + suffix);
    if (!type || !isOfFamily || (Number.isNaN(number) && value.toLowerCase() !== 'nan')) throw wrong(line);
    if (this.series.has(name + labels)) throw wrong(line);
    this.series.set(name + labels, number);
  }

  #checkHistograms(): void {
    const previous = new Map<string, number>();
    for (const [series, value] of this.series) {
      const [, family = '', label = '', bound = '', others = ''] = BUCKET.exec(series) ?? [];
      if (this.#types.get(family) !== 'histogram') continue;
      const histogram = `${family}${label}${others}`;
      if (value < (previous.get(histogram) ?? 0)) throw wrong(series);
      previous.set(histogram, value);
      const count = this.series.get(`${family}_count${others === '' ? '' : `{${others}}`}`);
      if (bound === '+Inf' && value !== count) throw wrong(series);
    }
  }
}

const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const SPECIAL: Record<string, number> = {
  '+inf': Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
};
const METRIC_NAME = /^[a-zA-Z_:][\w:]*$/;
const LABEL = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*"`;
const SAMPLE = new RegExp(String.raw`^([a-zA-Z_:][\w:]*)(\{${LABEL}(?:,${LABEL})*\})? (\S+)$`);
/** prom-client writes `le` first. */
const BUCKET = /^(\w+)_bucket\{(le)="([^"]*)",?(.*)\}$/;

function wrong(line: string): Error {
  return new Error(`This is not as the text format says: ${line}`);
}
