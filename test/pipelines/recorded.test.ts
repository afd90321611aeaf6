import { describe, expect, test } from 'vitest';
import { parseSent, type SentValue } from '../../src/api/client/exact-json.ts';
import { declaredEndpoint } from '../../src/api/endpoints.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import type { Shape } from '../../src/declare/table.ts';
import { explainRefusal } from '../../src/decode/explain-refusal.ts';
import { valueAt } from '../../src/decode/read-cell.ts';
import { recordedAnswer } from '../client/recorded.ts';
import { hasShared, recordedAnswers } from '../client/shared.ts';
import { read } from '../decode/reading.ts';
import { baseOf, encodeRecords, normalText, without } from './encode.ts';

const { pipelines } = await loadRegistry();

/** Answers that no server sent: their recorder left fields out, also of the key. */
const TRIMMED = [
  'dns_records kept in this repository',
  'dns-records/gemwalletcom__core__1.json',
  'jetton-masters/gemwalletcom__wallet__1.json',
  'nft-collections/gemwalletcom__core__1.json',
];

const cases = pipelines.flatMap((pipeline) => {
  const endpoint = declaredEndpoint(pipeline.endpoint);
  const kept = { file: `${pipeline.name} kept in this repository`, body: Buffer.from(recordedAnswer(endpoint)) };
  return [kept, ...recordedAnswers(endpoint.path)].map(({ file, body }) => ({
    name: pipeline.name,
    file,
    body,
    pipeline,
  }));
});

describe('rows of recorded answers', () => {
  test.each(cases.filter(({ file }) => !TRIMMED.includes(file)))(
    '$name: $file comes back from its rows as it was',
    ({ pipeline, body }) => {
      const { tables, refused } = read(pipeline, body);
      expect(refused.map(({ pointer, expected, index }) => `${index}${pointer}: ${expected}`)).toEqual([]);
      const base = baseOf(pipeline);
      const sent = recordsOf(pipeline, body).map((record) => normalText(without(base, record)));
      expect(encodeRecords(pipeline, tables).map(normalText)).toEqual(sent);
    },
  );

  test.each(cases.filter(({ file }) => TRIMMED.includes(file)))(
    '$name: $file lacks what every row has, and is refused with a reason',
    ({ pipeline, body }) => {
      const { refused } = read(pipeline, body);
      expect(refused).toHaveLength(recordsOf(pipeline, body).length);
      for (const record of refused)
        expect(explainRefusal(pipeline, record).reason).toMatch(/^expected .*, got nothing$/);
    },
  );
});

test.runIf(hasShared)('54 recorded types of actions are among them, each with its own type', () => {
  const typed = cases.filter(({ name, file }) => name === 'actions' && file.includes('server__type_'));
  const types = typed.map(({ pipeline, body }) => read(pipeline, body).tables['actions']?.map((row) => row['type']));
  expect(new Set(types.flat()).size).toBeGreaterThanOrEqual(54);
  expect(typed).toHaveLength(54);
});

function recordsOf(pipeline: PipelineDef, body: Buffer): readonly SentValue[] {
  const { rows } = baseOf(pipeline);
  if (rows.kind !== 'records') return [];
  return recordsIn(rows.path, rows.shape, parseSent(body, pipeline.name)) as readonly SentValue[];
}

/**
 * The list of records of a parsed response, as the kernel finds it in the bytes; anything else if it has no such list.
 *
 * @param path JSON pointer of the list, without a shape
 */
function recordsIn(path: string, shape: Shape | undefined, page: unknown): unknown {
  switch (shape) {
    case undefined:
      return valueAt(page, path) ?? [];
    case 'list':
      return page;
    case 'one':
      return [page];
    case 'map':
      return Object.entries(page ?? {}).map(([key, value]) => ({ key, value }));
    case 'bodies': {
      const bodies = valueAt(page, '/bodies') ?? [];
      return Array.isArray(bodies) ? bodies.map((value: unknown) => ({ value })) : bodies;
    }
  }
}
