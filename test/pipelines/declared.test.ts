import { describe, expect, test } from 'vitest';
import { planRequest } from '../../src/api/client/build-request.ts';
import { parametersOf } from '../../src/api/endpoint.ts';
import { declaredEndpoint, endpointNames, endpointOf } from '../../src/api/endpoints.ts';
import { parseField } from '../../src/api/field.ts';
import { fieldsOf } from '../../src/api/records.ts';
import { kinds } from '../../src/declare/kind.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import type { WalkDef } from '../../src/declare/walk.ts';
import { ACCOUNT, HASH } from '../client/recorded.ts';
import { readFacts } from '../facts.ts';
import { baseOf } from './encode.ts';

const { pipelines, tables } = await loadRegistry();

/** Parameters that a walk adds to the declared ones. */
function walkParameters(walk: WalkDef): Readonly<Record<string, unknown>> {
  const page = { limit: 1000, offset: 1000 };
  switch (walk.kind) {
    case 'masterchain':
      return { [walk.seqno]: 5, ...page };
    case 'block':
      return { [walk.seqno]: 5, ...(walk.limit === undefined ? {} : page) };
    case 'lt': {
      const split = walk.ties.kind === 'content' ? { [walk.ties.parameter]: [ACCOUNT] } : {};
      return { start_lt: 1n, end_lt: 2n, limit: 1000, ...split };
    }
    case 'snapshot':
      return { ...page, ...(walk.parents === undefined ? {} : { [walk.parents.parameter]: [ACCOUNT] }) };
    case 'custom':
      return {};
    case 'ephemeral':
      return { [walk.message ?? walk.account]: walk.message === undefined ? [ACCOUNT] : [HASH] };
    case 'lookup': {
      const keys = Object.fromEntries(walk.keys.map((name) => [name, KEYS[name]]));
      return { ...keys, ...(walk.limit === undefined ? {} : page) };
    }
  }
}

const KEYS: Readonly<Record<string, unknown>> = {
  ...{ address: ACCOUNT, wallet_address: ACCOUNT, multisig_address: ACCOUNT, wallet: ACCOUNT },
  ...{ hash: HASH, msg_hash: HASH, bodies: 'te6cckEBAQEAAgAAAEysuc0=', body: 'te6cckEBAQEAAgAAAEysuc0=' },
  ...{ method: 'seqno', stack: [] },
};

describe.each(pipelines.map((pipeline) => [pipeline.name, pipeline] as const))('pipeline %s', (_, pipeline) => {
  const endpoint = declaredEndpoint(pipeline.endpoint);

  test('sends only parameters that its endpoint knows, and nothing to the network', () => {
    expect(endpoint.sends).toBeUndefined();
    const known = parametersOf(endpoint);
    const fixed = Object.entries(pipeline.parameters).map(([name, value]) => [
      name,
      known[name]?.kind === 'bool' ? value === 'true' : value,
    ]);
    expect(() =>
      planRequest(endpoint, { ...Object.fromEntries(fixed), ...walkParameters(pipeline.walk) }),
    ).not.toThrow();
  });

  test('takes keys in lists only where its endpoint does', () => {
    const { walk } = pipeline;
    if (walk.kind !== 'lookup') return;
    expect(walk.batch).toBeLessThanOrEqual(200);
    expect(walk.batch > 1).toBe(endpoint.parameters[walk.keys.at(-1) ?? '']?.many === true);
  });

  test('has a column, or a reason, for every field of its record', () => {
    const base = baseOf(pipeline);
    const shape = base.rows.kind === 'records' ? base.rows.shape : undefined;
    const paths = pipeline.tables.flatMap((table) => [
      ...(table.rows.kind === 'nested' ? table.rows.places.map(({ path }) => path) : []),
      ...(table.rows.kind === 'nested'
        ? []
        : table.columns.flatMap(({ origin }) => (origin.kind === 'path' ? [origin.path] : []))),
      ...Object.keys(table.without),
    ]);
    if (shape === 'bodies') return expect(paths).toContain('/value');
    const missing = leavesOf(endpoint.answer.record, shape === 'map' ? '/value' : '').filter(
      (pointer) => !paths.some((path) => path === pointer || pointer.startsWith(`${path}/`)),
    );
    expect(missing.filter((pointer) => !NEVER_SENT.includes(pointer))).toEqual([]);
  });

  test('declares tables whose keys, orders and times are columns of theirs', () => {
    for (const { name, columns, key, sort, time, grain } of pipeline.tables) {
      const names = columns.map((column) => column.name);
      expect(new Set(names).size, name).toBe(names.length);
      expect(names).toEqual(expect.arrayContaining([...key, ...sort, ...(time === undefined ? [] : [time])]));
      expect(grain).toMatch(/^(one|the) /);
      for (const column of columns) {
        expect(column.doc).not.toBe('');
        expect(kinds[column.kind].meaning).not.toBe('');
      }
    }
  });
});

/** Fields of the states inside transactions that no server sends there; they would be kept in _extra. */
const NEVER_SENT = ['before', 'after'].flatMap((when) => [
  `/account_state_${when}/data_boc`,
  `/account_state_${when}/code_boc`,
]);

/** Pointers of what a record holds; lists and maps are not looked into. */
function leavesOf(record: string, at: string): readonly string[] {
  return Object.entries(fieldsOf(record) ?? {}).flatMap(([name, text]) => {
    const { content, container } = parseField(text);
    const pointer = `${at}/${name}`;
    return content.kind === 'record' && container === 'none' && content.name !== record
      ? leavesOf(content.name, pointer)
      : [pointer];
  });
}

describe('the order of rows', () => {
  const facts =
    readFacts<readonly { method: string; path: string; order: { total_order: boolean | null } }[]>('endpoints');
  const isTotal = (endpoint: string) =>
    facts.find(({ method, path }) => `${method} ${path}` === endpoint)?.order.total_order === true;

  test('is total wherever pages are found by offset', () => {
    const paged = pipelines.flatMap(({ name, ...pipeline }) => (pagedEndpoints(pipeline).every(isTotal) ? [] : [name]));
    expect(paged).toEqual(Object.keys(PAGED_WITHOUT_ORDER));
  });

  test('is not total wherever ties are split', () => {
    const split = pipelines.flatMap(splitEndpoints);
    expect(split.length).toBeGreaterThan(3);
    expect(split.filter(isTotal)).toEqual([]);
  });
});

/** Pipelines that page an endpoint without a total order, each with the reason why no row is lost. */
const PAGED_WITHOUT_ORDER: Readonly<Record<string, string>> = {
  top_accounts: 'the 1000 rows that it reads are one page',
  transactions_by_message: 'a full page is split by messages; only copies of one transaction tie',
};

/** Endpoints whose pages are found by `offset`. */
function pagedEndpoints({ endpoint, walk }: Pick<PipelineDef, 'endpoint' | 'walk'>): readonly string[] {
  switch (walk.kind) {
    case 'masterchain':
      return walk.windows.order === 'total' ? [endpoint, `GET ${walk.windows.path}`] : [];
    case 'block':
    case 'lookup':
      return walk.limit === undefined ? [] : [endpoint];
    case 'lt':
      return walk.ties.kind === 'total' ? [endpoint] : [];
    case 'snapshot':
      return [endpoint];
    case 'ephemeral':
    case 'custom':
      return [];
  }
}

/** Endpoints whose full windows are split instead, by time or by the accounts of their messages. */
function splitEndpoints({ endpoint, walk }: PipelineDef): readonly string[] {
  if (walk.kind === 'masterchain') return walk.windows.order === 'ties' ? [`GET ${walk.windows.path}`] : [];
  return walk.kind === 'lt' && walk.ties.kind === 'content' ? [endpoint] : [];
}

test('no two tables have one name', () => {
  const names = tables.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('every pipeline that is needed is declared, and views stand on declared tables', () => {
  const names = pipelines.map(({ name }) => name);
  for (const pipeline of pipelines) expect(names).toEqual(expect.arrayContaining([...pipeline.needs]));
});

test('no pipeline sends a message', () => {
  expect(endpointNames.filter((name) => endpointOf(name).sends)).toEqual(['sendMessageToNetwork']);
  expect(pipelines.filter(({ endpoint }) => endpoint.includes('/message') && !endpoint.endsWith('/messages'))).toEqual(
    [],
  );
});
