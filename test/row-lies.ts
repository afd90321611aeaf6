import { sha256Of } from '../src/core/sha256.ts';
import { isProving } from '../src/declare/cross-check.ts';
import type { PipelineDef } from '../src/declare/pipeline.ts';
import { joined, type ListText, listIn } from './faults/lists.ts';
import type { Passing, Replied } from './faults/test-sandbox.ts';

/** An answer that a source may give another form. */
export interface Answered {
  readonly pipeline: PipelineDef;
  readonly passing: Passing;
  readonly honest: Replied;
  /** Honest answers to other requests of the same pipeline. */
  readonly others: readonly Replied[];
  /** A number from 0 to 1 that belongs to the request. */
  readonly chance: number;
}

/** A way in which a source answers with other rows than requested. */
export interface RowLie {
  readonly name: string;
  /** The wrong answer; undefined if this one cannot be wrong in that way. */
  tell(answered: Answered): Promise<Replied | undefined> | Replied | undefined;
}

export const ROW_LIES: readonly RowLie[] = [
  {
    name: 'adds a row of another request',
    tell: (answered) => withRecords(answered, (records) => [...records, ...foreign(answered).slice(0, 1)]),
  },
  {
    name: 'answers another request',
    tell: (answered) => {
      const rows = foreign(answered);
      return withRecords(answered, (records) => (rows.length === 0 || records.length === 0 ? records : rows));
    },
  },
  {
    name: 'leaves a row out',
    tell: (answered) => {
      if (!isOmissionTold(answered.pipeline)) return undefined;
      return withRecords(answered, (records) => {
        const at = Math.floor(answered.chance * records.length);
        // An aborted order may be one that the index could not read.
        return /"transaction_aborted":true/.test(records[at] ?? '') ? records : records.filter((_, i) => i !== at);
      });
    },
  },
  {
    name: 'has a row twice',
    tell: (answered) => withRecords(answered, (records) => [...records, ...records.slice(0, 1)]),
  },
  {
    name: 'ignores a parameter',
    tell: async ({ pipeline, passing, chance }) => {
      const fixed = ['limit', 'sort', ...Object.keys(pipeline.parameters)];
      const names = [...new Set(passing.query.keys())].filter((name) => !fixed.includes(name));
      const name = names[Math.floor(chance * names.length)];
      if (name === undefined || passing.method === 'POST') return undefined;
      passing.query.delete(name);
      const answer = await passing.forward();
      return answer.status === 200 ? answer : undefined;
    },
  },
  {
    name: 'tells the friendly form of another account',
    tell: ({ honest }) => {
      const forms = [...honest.body.matchAll(/"user_friendly":"([^"]+)"/g)].map(([, form = '']) => form);
      if (forms.length < 2 || !honest.body.startsWith('{"')) return undefined;
      let at = 0;
      const body = honest.body.replace(/"user_friendly":"[^"]+"/g, () => {
        at++;
        return `"user_friendly":"${forms[at % forms.length]}"`;
      });
      return { ...honest, body };
    },
  },
];

/** A number from 0 to 1 that follows from a text. */
export function chanceOf(text: string): number {
  return Number.parseInt(sha256Of(text, 12), 16) / 2 ** 48;
}

/** True if something else tells how many rows there must be. */
function isOmissionTold({ walk, tables, crossCheck }: PipelineDef): boolean {
  const rows = tables[0]?.rows;
  switch (walk.kind) {
    case 'masterchain':
      return true;
    case 'block':
    case 'lt':
      return walk.kind === 'block' && walk.limit === undefined
        ? true
        : crossCheck !== undefined && isProving(crossCheck);
    case 'lookup':
      return walk.isEachListed === true || (rows?.kind === 'records' && rows.shape === 'bodies');
    default:
      return false;
  }
}

/** Records of other answers that this one does not have. */
function foreign({ pipeline, honest, others }: Answered): readonly string[] {
  const own = new Set(listOf(pipeline, honest.body)?.records);
  return others.flatMap(({ body }) => listOf(pipeline, body)?.records ?? []).filter((record) => !own.has(record));
}

function withRecords(
  { pipeline, honest }: Answered,
  change: (records: readonly string[]) => readonly string[],
): Replied | undefined {
  const list = honest.status === 200 ? listOf(pipeline, honest.body) : undefined;
  if (list === undefined) return undefined;
  const changed = change(list.records);
  if (changed === list.records || changed.join() === list.records.join()) return undefined;
  return { ...honest, body: joined({ ...list, records: changed }) };
}

/** The records of an answer; undefined for one without a list. */
function listOf({ tables: [main] }: PipelineDef, body: string): ListText | undefined {
  if (main?.rows.kind !== 'records') return undefined;
  const { shape, path } = main.rows;
  if (shape === 'one') return undefined;
  const name = shape === 'bodies' ? '"bodies":[' : shape === undefined ? `"${path.slice(1)}":[` : body.slice(0, 1);
  return listIn(body, name);
}
