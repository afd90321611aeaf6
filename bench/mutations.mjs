// Which wrong changes of the sources do the tests notice? One random change at a time, and the tests nearest to it, nearest first.
//   npm test | tee times; node bench/mutations.mjs [--times times] [--seed 1] [--from 1] [--count 20] [--folders export,warehouse,...]
//     [--seconds 60] [--tests test/a.test.ts,...] [--all]
// It changes files of dist, which vitest runs, and restores each: nothing else may use the checkout meanwhile. `--from`: number of the first
// change to try. `--times`: what `npm test` printed, with the CPU time of each test file; `--seconds`: of test files to run for one change, at
// most; `--tests` runs these instead. With `--all` the whole suite runs after them. Some changes make no difference, such as how much a buffer
// grows: what is not noticed has to be judged.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseAst } from 'vitest/node';
import { Random } from '../dist/tools/simulation/random.js';
import { root } from './lib/process.mjs';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
    folders: { type: 'string', default: 'audit,chain,decode,export,files,parquet,proof,verify,warehouse' },
    times: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    tests: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});
/** What takes the place of an operator. */
const OPERATORS = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' },
  ...{ '&&': '||', '||': '&&', '??': '&&', '+': '-', '-': '+' },
};
/** Larger ones are mostly sizes and times. */
const MAX_NUMBER = 100;
/** CPU time of a test file that `--times` does not name. */
const USUAL_SECONDS = 5;
/** Imports between a test and a changed module. */
const MAX_STEPS = 5;
/** A change can make a loop endless. */
const MAX_SECONDS = 1200;

const sources = values.folders.split(',').flatMap((folder) => filesIn(join(root, 'dist/src', folder), '.js'));
const tests = filesIn(join(root, 'test'), '.test.ts').filter((path) => !/\/(soak|crash)\//.test(path));
const secondsOf = readTimes();
const importersOf = readImporters();
const random = new Random(Number(values.seed));
const sites = sources.flatMap((path) => {
  const text = readFileSync(path, 'utf8');
  return changesOf(text).map((change) => ({ path, text, ...change }));
});
const from = Number(values.from);
const last = from + Number(values.count) - 1;
let noticed = 0;
// Ends after the change that is tried, which is undone then.
process.once('SIGINT', () => process.exit(130));
for (let at = 1; at <= last; at++) {
  const { path, text, start, end, by, what } = random.pick(sites);
  if (at < from) continue;
  await setImmediate();
  const place = `${relative(root, path)}:${text.slice(0, start).split('\n').length}`;
  const changed = `${text.slice(0, start)}${by}${text.slice(end)}`;
  const failed = withChange(path, text, changed, () => firstFailure(path));
  if (failed !== undefined) noticed++;
  const was = text.slice(start, end).replace(/\s+/g, ' ').slice(0, 100);
  process.stdout.write(
    `${at} ${failed === undefined ? 'NOT NOTICED' : 'noticed    '} ${place} ${what}: ${was}${failed === undefined ? '' : ` (${failed})`}\n`,
  );
}
process.stdout.write(
  `${noticed} of ${values.count} noticed, of ${sites.length} possible changes (seed ${values.seed})\n`,
);

function withChange(path, text, changed, work) {
  try {
    writeFileSync(path, changed);
    return work();
  } finally {
    writeFileSync(path, text);
  }
}

/** The first test file that fails, or how a run ended; undefined if all pass. */
function firstFailure(path) {
  const chosen = values.tests === undefined ? nearestTests(path) : [values.tests.split(',')];
  for (const files of values.all ? [...chosen, []] : chosen) {
    const run = ['--signal=KILL', String(MAX_SECONDS), 'npx', 'vitest', 'run', '--bail=1', ...files];
    const { status, signal, stdout, stderr } = spawnSync('timeout', run, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
      maxBuffer: 2 ** 28,
    });
    if (status === 0) continue;
    const failure = /FAIL +(test\/\S+\.ts)/.exec(stdout + stderr)?.[1] ?? signal;
    if (failure === null) throw new Error(`expected a test that fails, got exit code ${status}: ${stderr}`);
    return failure;
  }
  return undefined;
}

/**
 * Test files to run for a change, in two runs: those that import the module or are named as it is; then those that share its folder, or import
 * what imports it, and so on. The cheapest of each step, as long as the time is enough.
 */
function nearestTests(path) {
  const source = join(root, relative(join(root, 'dist'), path).replace(/\.js$/, '.ts'));
  const folder = join(root, 'test', relative(join(root, 'src'), dirname(source)));
  const steps = stepsFrom(source);
  const own = basename(source, '.ts');
  const nearness = (test) => {
    const named = basename(test, '.test.ts');
    if (named.includes(own) || own.includes(named)) return 1;
    return Math.min(steps.get(test) ?? Infinity, dirname(test) === folder ? 2 : Infinity);
  };
  let seconds = Number(values.seconds);
  const near = tests
    .map((test) => ({ test: relative(root, test), near: nearness(test) }))
    .filter((one) => one.near <= MAX_STEPS)
    .sort((a, b) => a.near - b.near || secondsOf(a.test) - secondsOf(b.test))
    .filter(({ test }) => {
      const fits = secondsOf(test) <= seconds;
      if (fits) seconds -= secondsOf(test);
      return fits;
    });
  const runs = [near.filter((one) => one.near === 1), near.filter((one) => one.near > 1)];
  return runs.filter((run) => run.length > 0).map((run) => run.map(({ test }) => test));
}

/** By how many imports each module, or test, is away from one that it imports. */
function stepsFrom(source) {
  const steps = new Map([[source, 0]]);
  for (const [path, step] of steps) {
    for (const importer of importersOf.get(path) ?? []) if (!steps.has(importer)) steps.set(importer, step + 1);
  }
  return steps;
}

/** Modules and tests that import each one, but for its types. */
function readImporters() {
  const importers = new Map();
  for (const path of ['src', 'pipelines', 'test'].flatMap((folder) => filesIn(join(root, folder), '.ts'))) {
    const text = readFileSync(path, 'utf8').replace(/^(import|export) type [^;]*;/gm, '');
    for (const [, name] of text.matchAll(/'(\.[^'\n]*)\.[jt]s'/g)) {
      const imported = join(dirname(path), `${name}.ts`);
      importers.set(imported, [...(importers.get(imported) ?? []), path]);
    }
  }
  return importers;
}

/** CPU time of a test file: what the last lines of `npm test` say, two columns. */
function readTimes() {
  const printed = values.times === undefined ? '' : readFileSync(values.times, 'utf8');
  const times = [...printed.matchAll(/^ *([\d.]+) (test\/\S+)$/gm)].map(([, seconds, test]) => [test, Number(seconds)]);
  const byTest = new Map(times);
  return (test) => byTest.get(test) ?? USUAL_SECONDS;
}

/** Each change of a module: from `start` to `end` (exclusive) of the text, what stands there then, and its name. Errors and imports stay as they are. */
function changesOf(text) {
  const changes = [];
  const textOf = ({ start, end }) => text.slice(start, end);
  const change = ({ start, end }, by, what) => changes.push({ start, end, by, what });
  const visit = (node) => {
    if (typeof node?.type !== 'string' || isLeftAlone(node, textOf)) return;
    const { type } = node;
    if (type === 'IfStatement' || type === 'ConditionalExpression')
      change(node.test, `!(${textOf(node.test)})`, 'negated');
    if (type === 'BinaryExpression' || type === 'LogicalExpression') changeOperator(node, textOf, change);
    if (type === 'ExpressionStatement' && /^(Call|Await)Expression$/.test(node.expression.type))
      change(node, ';', 'left out');
    if (type === 'Literal') changeLiteral(node, change);
    const { callee, arguments: given } = node;
    if (type === 'CallExpression' && callee.property?.name === 'filter' && given.length === 1)
      change(node, textOf(callee.object), 'without filter');
    for (const child of Object.values(node).flat()) if (typeof child === 'object') visit(child);
  };
  visit(parseAst(text));
  return changes;
}

function isLeftAlone(node, textOf) {
  if (/^Import|^ThrowStatement$/.test(node.type) || (node.type.startsWith('Export') && node.source)) return true;
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return false;
  return node.callee.type === 'Super' || /^(usage|\w*Error)$/.test(textOf(node.callee));
}

function changeOperator(node, textOf, change) {
  const { operator, left, right } = node;
  const by = OPERATORS[operator];
  const isText = operator === '+' && /['"`]/.test(textOf(node));
  if (by === undefined || isText) return;
  change(node, `((${textOf(left)}) ${by} (${textOf(right)}))`, `${operator} is ${by}`);
}

function changeLiteral(node, change) {
  if (typeof node.value === 'boolean') change(node, String(!node.value), 'the opposite');
  if (typeof node.value === 'number' && node.value < MAX_NUMBER) change(node, String(node.value + 1), 'one more');
}

function filesIn(folder, ending) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
    .sort();
}
