import { CAPTIONS, readAndWrite } from '../captions-promises.ts';
import type { Target } from '../target.ts';

export const target: Target = {
  ...CAPTIONS,
  seeds: [
    '1\n00:00:01,000 --> 00:00:02,5\n{\\an8}<font color="red">A</font>\n\n2\n00:00:03,000 --> 00:00:04,000\n- B\n\n- C\n',
  ],
  run: (input) => readAndWrite(input, 'subrip'),
};
