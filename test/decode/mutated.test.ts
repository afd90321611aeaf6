import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { kinds } from '../../src/declare/kind.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { Misfit, parseExact } from '../../src/decode/read-cell.ts';
import { rowsOfPage } from '../../tools/object-decoder.ts';
import { goldenCases, hasShared, readAnswer, sharedFixtures } from '../fixtures.ts';
import { tablesOf } from './reading.ts';

/**
 * Records of all tables, broken at random places: the slow oracle says what the kernel has to make of each. Raw control characters are
 * not among the changes: the kernel takes them, and parsers of JSON do not.
 */

const registry = await loadRegistry();
const SEED = 20261124;
/** A million: `npm run test:mutations`. */
const MUTATIONS = Number(process.env['MUTATIONS'] ?? 20_000);
const LONGEST = 12_000;

const CHARACTERS = Buffer.from('"\\{}[]:,0-e  9/+=nulltruefalse@au.~');
const INSERTED = [
  ...['\\/', '\\u0041', '\\ud83d\\ude00', '\\ud800', '\\u00e9', 'null', '""', '"x":1,', '"\\u0078":[1, 2],', '  '],
  ...[',"a~/b":{"c" : 1}', '-0', '1e5', '123456789012345678901234567890', 'true', 'é', '"\\n\\b\\u0001"'],
  ...[
    '{"@type":"text_comment","comment":"hi\\u0000"}',
    '{"comment":"","@type":"text_comment"}',
    '-9223372036854775808',
  ],
].map((text) => Buffer.from(text));

let state = SEED;
function below(count: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * count);
}

function mutated(page: Buffer): Buffer {
  let bytes = Buffer.from(page);
  for (let left = 1 + below(2); left > 0; left--) {
    const at = below(bytes.length);
    const inserted = INSERTED[below(INSERTED.length)] as Buffer;
    const cut = (from: number, to: number) => Buffer.concat([bytes.subarray(0, from), inserted, bytes.subarray(to)]);
    const kind = below(4);
    if (kind === 0) bytes[at] = CHARACTERS[below(CHARACTERS.length)] as number;
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + below(12))]);
    else {
      const value = kind === 2 ? at : bytes.indexOf(58, at) + 1;
      const end = kind === 2 ? at : bytes.indexOf(44, value);
      bytes = cut(value, Math.max(value, end));
    }
  }
  return bytes;
}

type Rows = ReturnType<typeof rowsOfPage>;

/** What the oracle makes of a page: its rows, or undefined if it refuses it. */
function slowly(pipeline: PipelineDef, page: Buffer): Rows | undefined {
  try {
    return rowsOfPage(pipeline, parseExact(page.toString()));
  } catch (error) {
    if (error instanceof Misfit || error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Rows as text, in any order, without the fields that the oracle does not know; JSON as values. */
function asText({ tables }: PipelineDef, rowsOf: Rows): string {
  const lines = tables.flatMap(({ name, columns }) =>
    (rowsOf[name] ?? []).map((row) => {
      const cells = columns.map((def) => {
        const cell = def.origin.kind === 'extra' ? null : (row[def.name] ?? null);
        const isJson = typeof cell === 'string' && kinds[def.kind].wire === 'json';
        return isJson
          ? JSON.stringify(JSON.parse(cell))
          : cell instanceof Uint8Array
            ? Buffer.from(cell).toString('hex')
            : String(cell);
      });
      return `${name} ${cells.join('\n')}`;
    }),
  );
  return lines.sort().join('\n\n');
}

type Answer = Readonly<Record<string, unknown>>;

function parsed(body: Buffer): Answer {
  return { ...(JSON.parse(body.toString()) as Answer) };
}

interface Sample {
  readonly pipeline: PipelineDef;
  readonly decoder: Decoder;
  readonly page: Buffer;
}

/** One page of one record for each record of the recorded answers that a pipeline with a list of records reads. */
function samplesOf(pipeline: PipelineDef, answers: readonly Answer[]): readonly Sample[] {
  const base = pipeline.tables.find(({ rows }) => rows.kind === 'records')?.rows;
  if (base?.kind !== 'records' || base.shape !== undefined) return [];
  const decoder = new Decoder(pipeline);
  return answers.flatMap((answer) => {
    const list = answer[base.path.slice(1)];
    const records = Array.isArray(list) ? list.slice(0, 20) : [];
    return records.flatMap((record: unknown) => {
      const page = Buffer.from(JSON.stringify({ [base.path.slice(1)]: [record] }));
      decoder.clear();
      const isRead = page.length <= LONGEST && decoder.decode(page).refused.length === 0;
      return isRead && slowly(pipeline, page) !== undefined ? [{ pipeline, decoder, page }] : [];
    });
  });
}

/** Faults of one mutated page: what the kernel makes of it, and what the oracle does. */
function faultOf({ pipeline, decoder }: Sample, page: Buffer): string | undefined {
  decoder.clear();
  let taken = false;
  try {
    taken = decoder.decode(page).refused.length === 0;
  } catch {
    if (decoder.mark().some((rows) => rows > 0)) return 'rows are left of a page that was refused';
  }
  const expected = slowly(pipeline, page);
  // A key that comes twice is refused, which the oracle cannot see.
  if (!taken) return expected === undefined || /"([^"]*)"\s*:.*"\1"\s*:/s.test(page.toString()) ? undefined : 'refused';
  if (expected === undefined) return 'taken';
  const [ours, theirs] = [asText(pipeline, tablesOf(decoder)), asText(pipeline, expected)];
  const at = [...ours].findIndex((letter, i) => letter !== theirs[i]);
  return ours === theirs
    ? undefined
    : `${ours.slice(Math.max(0, at - 60), at + 60)} for ${theirs.slice(Math.max(0, at - 60), at + 60)}`;
}

function faultsOf(samples: readonly Sample[]): readonly string[] {
  const faults: string[] = [];
  for (let i = 0; i < MUTATIONS; i++) {
    const sample = samples[below(samples.length)] as Sample;
    const page = mutated(sample.page);
    const fault = faultOf(sample, page);
    if (fault !== undefined) faults.push(`${sample.pipeline.name}: ${fault}: ${page}`);
  }
  return faults.slice(0, 5);
}

/** The answers in ../shared/fixtures, or where they are missing those kept here. */
function answers(): readonly Answer[] {
  if (!hasShared) {
    return ['blocks', 'transactions'].flatMap((name) =>
      goldenCases(name).map((golden) => parsed(readAnswer(name, golden.name))),
    );
  }
  const folders = readdirSync(new URL('../../../shared/fixtures/', import.meta.url), { withFileTypes: true });
  const names = folders.filter((folder) => folder.isDirectory()).map(({ name }) => name);
  return sharedFixtures(names).map(({ path }) => parsed(readFileSync(path)));
}

it('mutated records are read value by value as the oracle reads them, or refused as it refuses them', () => {
  const recorded = answers();
  const samples = registry.pipelines.flatMap((pipeline) => samplesOf(pipeline, recorded));
  expect(new Set(samples.map(({ pipeline }) => pipeline.name)).size).toBeGreaterThan(hasShared ? 10 : 1);
  expect(faultsOf(samples)).toEqual([]);
});
