import { kinds } from './declare/kind.ts';
import type { PipelineDef } from './declare/pipeline.ts';
import type { TableDef } from './declare/table.ts';
import type { Registry } from './registry.ts';

/** Everything there is to say about a table, as data. */
export function tableSummary(registry: Registry, table: TableDef) {
  const pipeline = pipelineOf(registry, table);
  return {
    table: table.name,
    grain: table.grain,
    key: table.key,
    sort: table.sort,
    partition: table.time === undefined ? undefined : 'block_date',
    pipeline: pipeline?.name,
    endpoint: pipeline?.endpoint,
    columns: table.columns.map((column) => ({
      name: column.name,
      type: kinds[column.kind].sql,
      nullable: column.nullable,
      unit: column.unit,
      doc: column.doc,
      meaning: kinds[column.kind].meaning,
    })),
  };
}

function pipelineOf(registry: Registry, table: TableDef): PipelineDef | undefined {
  return registry.pipelines.find((pipeline) => pipeline.tables.includes(table));
}

/** One line a table. */
export function describeTables(registry: Registry): string {
  const width = Math.max(...registry.tables.map(({ name }) => name.length));
  const lines = registry.tables.map(({ name, grain }) => `${name.padEnd(width)}  ${grain}`);
  return `${lines.join('\n')}\n\ntonlake describe TABLE shows its columns\n`;
}

/** A table with its columns, for a terminal. */
export function describeTable(registry: Registry, table: TableDef): string {
  const { endpoint, pipeline, partition, columns } = tableSummary(registry, table);
  const nameWidth = Math.max(...columns.map(({ name }) => name.length));
  const typeWidth = Math.max(...columns.map(({ type }) => type.length));
  const head = [
    `${table.name}: ${table.grain}`,
    `key (${table.key.join(', ')}), sorted by (${table.sort.join(', ')})${partition === undefined ? '' : `, partitioned by ${partition}`}`,
    ...(endpoint === undefined ? [] : [`pipeline ${pipeline}, from ${endpoint}`]),
    '',
  ];
  const lines = columns.map(({ name, type, nullable, unit, doc }) => {
    const facts = [unit, nullable ? 'or null' : undefined].filter((fact) => fact !== undefined).join(', ');
    return `${name.padEnd(nameWidth)}  ${type.padEnd(typeWidth)}  ${doc}${facts === '' ? '' : ` [${facts}]`}`;
  });
  return `${[...head, ...lines].join('\n')}\n`;
}

/** docs/tables.md: every table with grain, key, source and columns. */
export function tablesMarkdown(registry: Registry): string {
  const parts = ['# Tables', '', 'Made from the declarations in `pipelines/` by `npm run docs`.', ''];
  for (const table of registry.tables) {
    const { endpoint, pipeline, partition, columns } = tableSummary(registry, table);
    parts.push(
      `## ${table.name}`,
      '',
      `One row is ${table.grain}.`,
      '',
      `- key: ${table.key.map((name) => `\`${name}\``).join(', ')}`,
      `- sorted by: ${table.sort.map((name) => `\`${name}\``).join(', ')}`,
      `- partition: ${partition === undefined ? 'none' : `\`${partition}\``}`,
      `- source: ${endpoint === undefined ? 'every pipeline' : `\`${endpoint}\`, pipeline \`${pipeline}\``}`,
      '',
      '| column | type | unit | null | meaning |',
      '|---|---|---|---|---|',
      ...columns.map(
        ({ name, type, unit, nullable, doc }) =>
          `| \`${name}\` | ${type} | ${unit ?? ''} | ${nullable ? 'yes' : ''} | ${doc.replaceAll('|', '\\|')} |`,
      ),
      '',
    );
  }
  return parts.join('\n');
}
