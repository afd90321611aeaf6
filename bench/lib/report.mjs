// Prints tables of results, and writes them to docs/performance.md between the markers of their bench.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));

export const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
export const round = (number, digits = 2) => Number(number.toFixed(digits));
export const count = (number) => Math.round(number).toLocaleString('en-US');

/** A markdown table of objects with the same keys. */
export function table(rows) {
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) => line(columns.map((column) => row[column] ?? '')));
  return [line(columns), line(columns.map((_, at) => (at === 0 ? '---' : '---:'))), ...body].join('\n');
}

export function machine() {
  const [cpu] = cpus();
  return `${availableParallelism()} x ${cpu?.model.trim() ?? 'CPU'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}, node ${process.version}`;
}

/** Prints the result of a bench, and writes it to its section of the page with `--write`. */
export function publish(name, text, { section = name } = {}) {
  const own = process.argv.slice(2).filter((argument) => argument !== '--write');
  const command = ['node', `bench/${name}.mjs`, ...own].join(' ');
  const about = `${new Date().toISOString().slice(0, 10)}, \`${command}\`, ${machine()}`;
  const result = `${text.trim()}\n\n<sub>${about}</sub>`;
  process.stdout.write(`${result}\n`);
  if (!process.argv.includes('--write') || !existsSync(page)) return;
  const [begin, end] = [`<!-- bench:${section} -->`, `<!-- /bench:${section} -->`];
  const before = readFileSync(page, 'utf8');
  const [from, to] = [before.indexOf(begin), before.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md lacks ${begin} ... ${end}`);
  writeFileSync(page, `${before.slice(0, from + begin.length)}\n${result}\n${before.slice(to)}`);
}
