import { type Endpoint, parametersOf } from '../api/endpoint.ts';
import { declaredEndpoint } from '../api/endpoints.ts';
import { fieldsOf } from '../api/records.ts';
import { choicesFor } from '../core/did-you-mean.ts';
import { UsageError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { ownColumns } from './cross-check.ts';
import { kinds } from './kind.ts';
import { PROVEN_AS } from './left-out.ts';
import type { PipelineDef } from './pipeline.ts';
import { ROLES } from './roles.ts';
import { recordsOf, type TableDef, TableDraft } from './table.ts';
import { requestedColumns, type WalkCode, type WalkDef } from './walk.ts';

const WALKS: readonly WalkDef['kind'][] = ['masterchain', 'block', 'lt', 'snapshot', 'lookup', 'ephemeral', 'custom'];

/**
 * Checks a declaration at run time: a user's file may be JavaScript.
 *
 * @param file for messages
 * @throws {UsageError} with the nearest valid name
 */
export function checkPipeline(file: string, pipeline: unknown): asserts pipeline is PipelineDef {
  if (!isPipeline(pipeline)) {
    throw refusal(file, 'a pipeline as its default export', typeof pipeline, 'export default pipeline({ name: ... })');
  }
  const code = findCode(pipeline);
  if (code !== undefined) {
    throw refusal(
      file,
      'a declaration of data alone',
      `a function at ${code}`,
      'declarations are stored beside their rows',
    );
  }
  requireChoice(file, 'a kind of walk', pipeline.walk.kind, WALKS);
  const endpoint = endpointFor(file, pipeline);
  const known = Object.keys(parametersOf(endpoint));
  for (const name of [...Object.keys(pipeline.parameters), ...walkParameters(pipeline.walk)]) {
    requireChoice(file, `a parameter of ${pipeline.endpoint}`, name, known);
  }
  for (const table of pipeline.tables) {
    checkTable(file, table);
    checkRows(file, pipeline, endpoint, table);
  }
  checkRoles(file, pipeline);
}

/** True for what `defineWalk` made. @throws {UsageError} when it lacks a name or `plan` */
export function isWalkCode(file: string, value: unknown): value is WalkCode {
  if (typeof value !== 'object' || value === null || !('defines' in value) || value.defines !== 'walk') return false;
  const isComplete =
    'name' in value && typeof value.name === 'string' && 'plan' in value && typeof value.plan === 'function';
  if (isComplete) return true;
  throw refusal(
    file,
    'a walk kind with a name and plan',
    Object.keys(value).join(', '),
    'docs/pipelines.md has an example',
  );
}

/** @throws {UsageError} when two files define one walk kind, or a pipeline names one that no file defines */
export function checkWalks(pipelines: readonly PipelineDef[], walks: readonly WalkCode[]): void {
  const names = walks.map(({ name }) => name);
  requireDistinct('pipelines', 'walk kind', names);
  for (const { name, walk } of pipelines)
    if (walk.kind === 'custom') requireChoice(name, 'a walk kind', walk.name, names);
}

/** @throws {UsageError} for duplicate names of pipelines, tables, views or roles, and for unknown pipelines in `needs` and `provenBy` */
export function checkNames(pipelines: readonly PipelineDef[]): void {
  const names = pipelines.map(({ name }) => name);
  const tables = pipelines.flatMap((pipeline) => pipeline.tables);
  const roles = tables.flatMap(({ plays }) => plays ?? []);
  requireDistinct('pipelines', 'pipeline', names);
  requireDistinct('pipelines', 'table or view', relationsOf(pipelines));
  requireDistinct('pipelines', 'role', roles);
  for (const { name, needs, provenBy } of pipelines) {
    for (const need of needs) requireChoice(name, 'a pipeline that it needs', need, names);
    for (const other of provenBy) requireChoice(name, 'a pipeline that proves it', other, names);
  }
}

/** The names of all tables and views. */
export function relationsOf(pipelines: readonly PipelineDef[]): readonly string[] {
  const tables = pipelines.flatMap((pipeline) => pipeline.tables);
  return tables.flatMap(({ name, views }) => [name, ...views.map((view) => view.name)]);
}

function isPipeline(value: unknown): value is PipelineDef {
  if (typeof value !== 'object' || value === null) return false;
  if (!['name', 'endpoint', 'walk', 'parameters'].every((field) => field in value)) return false;
  return 'tables' in value && Array.isArray(value.tables) && !value.tables.some((table) => table instanceof TableDraft);
}

/** The place of a function in a declaration: `walk.query`. */
function findCode(value: unknown): string | undefined {
  if (typeof value === 'function') return '';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const name of Object.keys(value)) {
    const place = findCode(value[name as keyof typeof value]);
    if (place !== undefined) return place === '' ? name : `${name}.${place}`;
  }
  return undefined;
}

function endpointFor(file: string, { endpoint }: PipelineDef): Endpoint {
  let found: Endpoint;
  try {
    found = declaredEndpoint(endpoint);
  } catch (error) {
    throw error instanceof UsageError ? error.with({ of: file }) : error;
  }
  if (found.sends === true) {
    throw refusal(
      file,
      'an endpoint that a pipeline can use',
      endpoint,
      'it sends to the network: only the api command can call it',
    );
  }
  return found;
}

/** Rows of the endpoint are where it sends them. */
function checkRows(file: string, { endpoint }: PipelineDef, { answer }: Endpoint, { name, rows }: TableDef): void {
  if (rows.kind !== 'records') return;
  const sent = recordsOf(answer);
  const isSent = rows.path === sent.path && (rows.shape ?? '') === (sent.shape ?? '');
  const isBodies = rows.shape === 'bodies' && fieldsOf(answer.record)?.['bodies'] !== undefined;
  if (isSent || isBodies) return;
  const [expected, got] = [sent, rows].map(({ path, shape }) => (shape ? `${path} with shape ${shape}` : path));
  throw refusal(file, `${expected}, the rows of ${endpoint}, for ${name}`, String(got), 'leave out rows');
}

/** Parameters that the walk adds to the declared ones. */
function walkParameters(walk: WalkDef): readonly string[] {
  switch (walk.kind) {
    case 'masterchain':
    case 'block':
      return [walk.seqno];
    case 'lt':
      return ['start_lt', 'end_lt', ...(walk.ties.kind === 'content' ? [walk.ties.parameter] : [])];
    case 'snapshot':
      return walk.parents === undefined ? [] : [walk.parents.parameter, ...Object.keys(walk.parents.others ?? {})];
    case 'lookup':
      return walk.keys;
    case 'ephemeral':
      return [walk.account, ...(walk.message === undefined ? [] : [walk.message])];
    case 'custom':
      return [];
  }
}

function checkTable(file: string, { name, columns, key, sort, time }: TableDef): void {
  const names = columns.map((column) => column.name);
  requireDistinct(file, `column of ${name}`, names);
  for (const column of columns)
    requireChoice(file, `a kind for ${name}.${column.name}`, column.kind, Object.keys(kinds));
  for (const used of [...key, ...sort, ...(time === undefined ? [] : [time])]) {
    requireChoice(file, `a column of ${name}`, used, names);
  }
}

/** A table has all columns of the role that it plays. */
function checkRoles(file: string, { walk, tables, crossCheck }: PipelineDef): void {
  for (const table of tables) {
    if (table.plays === undefined) continue;
    requireChoice(file, `a role for ${table.name}`, table.plays, Object.keys(ROLES));
    const { columns } = ROLES[table.plays];
    requireTyped(file, table, columns, `as ${table.plays}`);
  }
  const [main] = tables;
  if (main === undefined) return;
  const names = main.columns.map((column) => column.name);
  if (walk.kind === 'masterchain') {
    const { columns, kept } = ROLES[PROVEN_AS[walk.proof]];
    const needed = Object.entries(columns).filter(([name]) => kept.includes(name));
    requireTyped(file, main, Object.fromEntries(needed), `to be proven by ${walk.proof}`);
  }
  if (walk.kind === 'lookup' && !Array.isArray(walk.columns)) {
    throw refusal(
      file,
      'walk.columns, the columns with the key of a row',
      String(walk.columns),
      '[] if no column shows it',
    );
  }
  const type = { lt: 'BIGINT', masterchain: 'BIGINT', lookup: 'VARCHAR', snapshot: 'VARCHAR' }[String(walk.kind)];
  for (const requested of requestedColumns(walk)) {
    if (type === undefined)
      requireChoice(file, `a column of ${main.name} to compare with the request`, requested, names);
    else requireTyped(file, main, { [requested]: type }, 'to compare it with the request');
  }
  if (crossCheck === undefined) return;
  for (const used of ownColumns(crossCheck))
    requireChoice(file, `a column of ${main.name} for ${crossCheck.kind}`, used, names);
}

function requireTyped(file: string, table: TableDef, columns: Readonly<Record<string, string>>, why: string): void {
  for (const [name, type] of Object.entries(columns)) {
    const column = table.columns.find((each) => each.name === name);
    const got = column === undefined ? 'none' : kinds[column.kind].sql;
    if (got === type) continue;
    throw refusal(
      file,
      `column ${name} of ${table.name} as ${type} ${why}`,
      got,
      `${suggest('show')} lists tables, and with a name its columns`,
    );
  }
}

function requireDistinct(file: string, what: string, names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw refusal(file, `each ${what} once`, `${twice} twice`, 'rename one of them');
}

function requireChoice(file: string, what: string, got: string, choices: readonly string[]): void {
  if (choices.includes(got)) return;
  throw refusal(file, what, JSON.stringify(got), choicesFor(String(got), choices));
}

function refusal(file: string, expected: string, got: string, hint: string, cause?: unknown): UsageError {
  return usage(expected, got, hint, { of: file, cause });
}
