/** Metrics in the text format of Prometheus, parsed strictly. */
export class PrometheusText {
  /** The value of each series. The key is the name with the labels exactly as written. */
  readonly series = new Map<string, number>();
  readonly #types = new Map<string, string>();
  #family = '';

  /**
   * Parses version 0.0.4 of the format. Stricter than a scraper and parse-prometheus-text-format: a family has one HELP and one TYPE
   * line and is contiguous, a series occurs once, and the buckets of a histogram are cumulative. Throws an Error that names the invalid
   * line or series.
   */
  static parse(text: string): PrometheusText {
    if (!text.endsWith('\n')) throw new Error('The last line does not end with a newline');
    const parsed = new PrometheusText();
    for (const line of text.split('\n')) parsed.#read(line);
    parsed.#checkHistograms();
    return parsed;
  }

  /** The metrics at a URL. */
  static async scrape(url: string): Promise<PrometheusText> {
    const response = await fetch(url);
    const text = await response.text();
    if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${text}`);
    return PrometheusText.parse(text);
  }

  /** The series whose name starts with `prefix`, sorted by name. */
  withPrefix(prefix: string): Record<string, number> {
    const found = [...this.series].filter(([name]) => name.startsWith(prefix));
    return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** How much each series has changed since `before`; unchanged ones are left out. */
  growthSince(before: PrometheusText, prefix: string): Record<string, number> {
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
    if (!METRIC_NAME.test(family) || this.#types.has(family)) throw invalid(line);
    this.#family = family;
    this.#types.set(family, '');
  }

  #setType(family: string, type: string, line: string): void {
    const isDescribed = family === this.#family && this.#types.get(family) === '';
    if (!isDescribed || !TYPES.includes(type)) throw invalid(line);
    // Naming convention of Prometheus: counters, and nothing else, end with _total.
    if (family.startsWith('framelane_') && (type === 'counter') !== family.endsWith('_total'))
      throw invalid(line);
    this.#types.set(family, type);
  }

  #readSample(line: string): void {
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const type = this.#types.get(this.#family);
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    const number = SPECIAL[value.toLowerCase()] ?? Number(value);
    const isOfFamily = suffixes.some((suffix) => name === this.#family + suffix);
    if (!type || !isOfFamily || (Number.isNaN(number) && value.toLowerCase() !== 'nan')) throw invalid(line);
    if (this.series.has(name + labels)) throw invalid(line);
    this.series.set(name + labels, number);
  }

  /** The buckets of each histogram ascend, and the last one, for all values, equals the count. */
  #checkHistograms(): void {
    const last = this.#lastBuckets();
    for (const [count, { bound, value }] of last) {
      if (bound !== '+Inf' || this.series.get(count) !== value) throw invalid(count);
    }
    for (const series of this.series.keys()) {
      const [, family = ''] = COUNT.exec(series) ?? [];
      if (this.#types.get(family) === 'histogram' && !last.has(series)) throw invalid(series);
    }
  }

  /** The last bucket of each histogram, by the name of its count. */
  #lastBuckets(): Map<string, { bound: string; value: number }> {
    const last = new Map<string, { bound: string; value: number }>();
    for (const [series, value] of this.series) {
      const [, family = '', bound = '', others = ''] = BUCKET.exec(series) ?? [];
      if (this.#types.get(family) !== 'histogram') continue;
      const count = `${family}_count${others && `{${others}}`}`;
      if (value < (last.get(count)?.value ?? 0)) throw invalid(series);
      last.set(count, { bound, value });
    }
    return last;
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
/** prom-client writes the label `le` first. */
const BUCKET = /^(\w+)_bucket\{le="([^"]*)",?(.*)\}$/;
const COUNT = /^(\w+)_count(?:\{.*\})?$/;

function invalid(line: string): Error {
  return new Error(`Invalid line in the Prometheus text format: ${line}`);
}
