const [WIDTH, HEIGHT] = [800, 240];
const MARGIN = { left: 64, right: 132, top: 32, bottom: 28 };
const COLOURS = ['#2563eb', '#d97706', '#059669', '#db2777', '#7c3aed', '#475569'];

/** Points of a line: minutes since the start, and the value then. */
export type Line = { name: string; points: readonly { minutes: number; value: number }[] };

/** A chart of lines over time, with zero at its bottom, as SVG. */
export function chart(title: string, unit: string, lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points);
  const end = Math.max(1, ...points.map(({ minutes }) => minutes));
  const top = niceAbove(Math.max(1, ...points.map(({ value }) => value)));
  const x = (minutes: number) => MARGIN.left + (minutes / end) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (value: number) => HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const right = WIDTH - MARGIN.right;
  const rows = [0, top / 2, top].map(
    (value) =>
      `<path d="M${MARGIN.left} ${y(value)}H${right}" stroke="#ddd"/>` +
      `<text x="${MARGIN.left - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
  );
  const drawn = lines.map((line, index) => {
    const colour = COLOURS[index % COLOURS.length];
    const path = line.points
      .map(({ minutes, value }) => `${x(minutes).toFixed(1)} ${y(value).toFixed(1)}`)
      .join('L');
    const labelled = MARGIN.top + 10 + index * 18;
    return (
      `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>` +
      `<text x="${right + 10}" y="${labelled}" fill="${colour}">${line.name}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${MARGIN.left}" y="18" font-weight="bold">${title}${unit === '' ? '' : `, ${unit}`}</text>`,
    ...rows,
    ...drawn,
    `<text x="${right}" y="${HEIGHT - 8}" text-anchor="end">${Math.round(end)} minutes</text>`,
    '</svg>',
    '',
  ].join('\n');
}

/** The next number above of the form 1, 2 or 5 times a power of ten. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((factor) => factor * power >= value) ?? 10) * power;
}
