import { expect, test } from 'vitest';
import { whileBusy } from '../../src/cli/busy-line.ts';

function terminal(isTTY = true) {
  const written: string[] = [];
  let tick = (): void => {};
  let isStopped = false;
  const options = {
    output: { isTTY, write: (text: string) => written.push(text.replaceAll('\r\u001b[K', '>')) },
    every: (each: () => void) => {
      tick = each;
      return () => {
        isStopped = true;
      };
    },
  };
  return {
    written,
    options,
    pass: (seconds: number): void => {
      for (let second = 0; second < seconds; second++) tick();
    },
    isStopped: () => isStopped,
  };
}

test('long work shows what it does and for how long, and leaves nothing of it behind', async () => {
  const { written, options, pass, isStopped } = terminal();
  const result = await whileBusy(
    'verifying',
    async (clear) => {
      pass(3);
      clear();
      options.output.write('a finding\n');
      pass(58);
      return 7;
    },
    options,
  );
  expect([result, isStopped()]).toEqual([7, true]);
  expect(written.slice(0, 5)).toEqual(['>verifying  2 s', '>verifying  3 s', '>', 'a finding\n', '>verifying  4 s']);
  expect(written.slice(-3)).toEqual(['>verifying  1 min', '>verifying  1 min', '>']);
});

test('short work, and work without a terminal, show nothing', async () => {
  const short = terminal();
  await whileBusy('verifying', async () => short.pass(1), short.options);
  const piped = terminal(false);
  await whileBusy('verifying', async () => piped.pass(5), piped.options);
  expect([short.written, piped.written]).toEqual([[], []]);
});

test('the line ends also with work that fails', async () => {
  const { written, options, pass, isStopped } = terminal();
  const failing = whileBusy(
    'verifying',
    async () => {
      pass(2);
      throw new Error('no');
    },
    options,
  );
  await expect(failing).rejects.toThrow('no');
  expect([written, isStopped()]).toEqual([['>verifying  2 s', '>'], true]);
});
