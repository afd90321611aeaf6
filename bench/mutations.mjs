// Which wrong changes of the sources do the tests notice? One random change at a time, and the tests nearest to it, nearest first.
//   npm run build && node bench/mutations.mjs [--seed 1] [--count 20] [--folders export,warehouse,...] [--files 30] [--all]
// It changes files of dist, which vitest runs, and restores each: nothing else may use the checkout meanwhile. `--files`: how many test files
// to run at most; with `--all` the whole suite runs after them. Some changes make no difference, such as how much a buffer grows: what is
// not noticed has to be judged.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseAst } from 'vitest/node';
import { Random } from '../dist/tools/simulation/random.js';
import { root } from './lib/process.mjs';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
    folders: { type: 'string', default: 'audit,chain,decode,export,files,parquet,proof,verify,warehouse' },
    files: { type: 'string', default: '30' },
    all: { type: 'boolean', default: false },
  },
});
/** What takes the place of an operator. */
const OPERATORS = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' },
  ...{ '&&': '||', '||': '&&', '??': '&&', '+': '-', '-': '+' },
};
/** Larger ones are mostly sizes and times. */
const MOST_NUMBER = 100;

const sources = values.folders.split(',').flatMap((folder) => filesIn(join(root, 'dist/src', folder), '.js'));
const tests = filesIn(join(root, 'test'), '.test.ts').filter((path) => !/\/(soak|crash)\//.test(path));
const random = new Random(Number(values.seed));
const sites = sources.flatMap((path) => {
  const text = readFileSync(path, 'utf8');
  return changesOf(text).map((change) => ({ path, text, ...change }));
});
let noticed = 0;
// Ends after the change that is tried, which is undone then.
process.once('SIGINT', () => process.exit(130));
for (let at = 0; at < Number(values.count); at++) {
  await setImmediate();
  const { path, text, from, to, by, what } = random.pick(sites);
  const place = `${relative(root, path)}:${text.slice(0, from).split('\n').length}`;
  const changed = `${text.slice(0, from)}${by}${text.slice(to)}`;
  const failed = withChange(path, text, changed, () => firstFailure(path));
  if (failed !== undefined) noticed++;
  const was = text.slice(from, to).replace(/\s+/g, ' ').slice(0, 100);
  process.stdout.write(
    `${failed === undefined ? 'NOT NOTICED' : 'noticed    '} ${place} ${what}: ${was}${failed === undefined ? '' : ` (${failed})`}\n`,
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
  const near = nearestTests(path);
  for (const files of values.all ? [near, []] : [near]) {
    const { status, signal, stdout, stderr } = spawnSync('npx', ['vitest', 'run', '--bail=1', ...files], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
      maxBuffer: 2 ** 28,
      timeout: 3_600_000,
    });
    if (status === 0) continue;
    return /FAIL +(test\/\S+\.ts)/.exec(stdout + stderr)?.[1] ?? signal ?? `exit code ${status}`;
  }
  return undefined;
}

/** Test files that import a source or are named as it is, those that share its folder, and those end to end. */
function nearestTests(path) {
  const source = relative(join(root, 'dist'), path).replace(/\.js$/, '.ts');
  const [, folder] = source.split('/');
  const name = basename(source, '.ts');
  const nearness = (test) => {
    if (readFileSync(test, 'utf8').includes(source)) return 0;
    if (basename(test).includes(name)) return 1;
    if (test.includes(`/test/${folder}/`)) return 2;
    return test.includes('/test/e2e/') ? 3 : 4;
  };
  return tests
    .map((test) => ({ test: relative(root, test), near: nearness(test) }))
    .filter(({ near }) => near < 4)
    .sort((a, b) => a.near - b.near)
    .slice(0, Number(values.files))
    .map(({ test }) => test);
}

/** Each change of a module: `[from, to)` of the text, what stands there then, and its name. Errors and imports stay as they are. */
function changesOf(text) {
  const changes = [];
  const textOf = ({ start, end }) => text.slice(start, end);
  const change = ({ start: from, end: to }, by, what) => changes.push({ from, to, by, what });
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
  if (typeof node.value === 'number' && node.value < MOST_NUMBER) change(node, String(node.value + 1), 'one more');
}

function filesIn(folder, ending) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
    .sort();
}
