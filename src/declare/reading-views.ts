import type { TableDef, ViewDef } from './table.ts';
import type { WalkDef } from './walk.ts';

const ADDED = {
  valid_from: 'UTC time of the reading',
  valid_to: 'UTC time of the next reading; null for the latest',
};

/**
 * Views of a table with several readings: `_now` has the latest, `_history` the period in which each was the latest. A ranking
 * (a list read up to a limit) is replaced as a whole; other rows are replaced one by one.
 */
export function viewsOfReadings(walk: WalkDef, table: TableDef): readonly ViewDef[] {
  if (!table.key.includes('_read_at')) return [];
  if (walk.kind === 'snapshot') return walk.most === undefined ? viewsByKey(table) : viewsOfRanking(table);
  return walk.kind === 'lookup' ? viewsByKey(table) : [];
}

function viewsOfRanking({ name }: TableDef): readonly ViewDef[] {
  return [
    {
      name: `${name}_now`,
      doc: `rows of the latest reading of ${name}`,
      sql: `SELECT * FROM ${name} WHERE _read_at = (SELECT max(_read_at) FROM ${name})`,
      adds: {},
    },
    {
      name: `${name}_history`,
      doc: `rows of all stored readings of ${name}, each with the time of the next reading`,
      sql: `SELECT ${name}.*, _read_at AS valid_from, next_at AS valid_to FROM ${name} JOIN (
        SELECT read_at, lead(read_at) OVER (ORDER BY read_at) AS next_at FROM (SELECT DISTINCT _read_at AS read_at FROM ${name})
      ) ON read_at = _read_at`,
      adds: ADDED,
    },
  ];
}

/** Each row has its own latest reading. Nested rows belong to the reading of their parent. */
function viewsByKey({ name, key, rows, columns }: TableDef): readonly ViewDef[] {
  const own = columns.filter(({ origin }) => rows.kind !== 'nested' || origin.kind === 'parent').map((one) => one.name);
  const partition = key
    .filter((column) => column !== '_read_at' && own.includes(column))
    .map((column) => `"${column}"`);
  const readings = `PARTITION BY ${partition.join(', ')} ORDER BY _read_at`;
  const next = `min(_read_at) OVER (${readings} RANGE BETWEEN INTERVAL 1 MICROSECOND FOLLOWING AND UNBOUNDED FOLLOWING)`;
  return [
    {
      name: `${name}_now`,
      doc: `the latest reading of each row of ${name}`,
      sql: `SELECT * FROM ${name} QUALIFY rank() OVER (${readings} DESC) = 1`,
      adds: {},
    },
    {
      name: `${name}_history`,
      doc: `all readings of each row of ${name}, each with the time of the next`,
      sql: `SELECT *, _read_at AS valid_from, ${next} AS valid_to FROM ${name}`,
      adds: ADDED,
    },
  ];
}
