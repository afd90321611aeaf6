import { type EndpointName, endpointNames, endpointOf } from '../api/endpoints.ts';
import { oneLine } from '../core/errors.ts';
import { COMMITS, commitColumns } from '../warehouse/index.ts';
import { kinds } from './kind.ts';
import { isEphemeral, type PipelineDef } from './pipeline.ts';
import type { Registry } from './registry.ts';
import type { TableDef, ViewDef } from './table.ts';

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
    views: table.views.map((view) => viewSummary(table, view)),
  };
}

/** Everything there is to say about a view, as data. */
export function viewSummary(table: TableDef, { name, doc, sql, adds }: ViewDef) {
  return { view: name, of: table.name, doc, sql: oneLine(sql), adds };
}

function pipelineOf(registry: Registry, table: TableDef): PipelineDef | undefined {
  return registry.pipelines.find((pipeline) => pipeline.tables.includes(table));
}

/** One line a table. */
export function describeTables(registry: Registry): string {
  const width = Math.max(...registry.tables.map(({ name }) => name.length));
  const lines = registry.tables.map(({ name, grain, views }) => {
    const more = views.length === 0 ? '' : ` [${views.length} ${views.length === 1 ? 'view' : 'views'}]`;
    return `${name.padEnd(width)}  ${grain}${more}`;
  });
  return `${lines.join('\n')}\n\ntonlake describe TABLE shows its columns and views\n`;
}

/** A table with its columns, for a terminal. `notes`: what a warehouse lacks of it. */
export function describeTable(registry: Registry, table: TableDef, notes: readonly string[] = []): string {
  const { endpoint, pipeline, partition, columns, views } = tableSummary(registry, table);
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
  const viewWidth = Math.max(0, ...views.map(({ view }) => view.length));
  const viewLines = views.map(({ view, doc }) => `${view.padEnd(viewWidth)}  ${doc}`);
  return `${[...head, ...lines, ...(views.length === 0 ? [] : ['', 'views', ...viewLines]), ...(notes.length === 0 ? [] : ['', ...notes])].join('\n')}\n`;
}

/** The ledger as data. */
export function ledgerSummary() {
  return { table: COMMITS, grain: 'one commit in force', key: ['number'], columns: commitColumns };
}

/** The ledger, for a terminal. */
export function describeLedger(): string {
  const { table, grain, key, columns } = ledgerSummary();
  const nameWidth = Math.max(...columns.map(({ name }) => name.length));
  const typeWidth = Math.max(...columns.map(({ type }) => type.length));
  const lines = columns.map(({ name, type, doc }) => `${name.padEnd(nameWidth)}  ${type.padEnd(typeWidth)}  ${doc}`);
  return `${[`${table}: ${grain}`, `key (${key.join(', ')})`, '', ...lines].join('\n')}\n`;
}

/** A view, for a terminal. */
export function describeView(table: TableDef, view: ViewDef): string {
  const { sql, adds } = viewSummary(table, view);
  const more = Object.entries(adds ?? {}).map(([name, doc]) => `${name}  ${doc}`);
  const columns = adds === undefined ? [] : [`columns of ${table.name}${more.length === 0 ? '' : ', and'}`, ...more];
  return `${[`${view.name}: ${view.doc}`, sql, ...(columns.length === 0 ? [] : ['', ...columns])].join('\n')}\n`;
}

/** docs/tables.md: every table with grain, key, source and columns. */
export function tablesMarkdown(registry: Registry): string {
  const parts = ['# Tables', '', 'Generated from the declarations in `pipelines/` by `npm run docs`.', ''];
  for (const table of registry.tables) {
    const { endpoint, pipeline, partition, columns, views } = tableSummary(registry, table);
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
      ...views.map(({ view, doc }) => `- view \`${view}\`: ${doc}`),
      ...(views.length === 0 ? [] : ['']),
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

/** Endpoints that feed no table, each with what they are for. */
const WITHOUT_TABLE: Partial<Readonly<Record<EndpointName, string>>> = {
  masterchainInfo: 'no table: first and last block of every walk',
  masterchainBlockShards: 'no table: same rows as `/blocks?mc_seqno=`, exported by `blocks`',
  sendMessageToNetwork: 'no table: it sends to the network, so no pipeline can call it',
};

/** Endpoints that came after the first description of the API. */
const LATER: readonly EndpointName[] = ['nftSales', 'decodeByPost'];

/** docs/endpoints.md: every endpoint with its pipeline, tables, client function and test. */
export function endpointsMarkdown(registry: Registry): string {
  const row = (name: EndpointName): string => {
    const { method, path } = endpointOf(name);
    const feeds = registry.pipelines.filter((pipeline) => pathsOf(pipeline).includes(path));
    const tables = feeds.flatMap((pipeline) => pipeline.tables.map((table) => `\`${table.name}\``));
    const what = feeds.length === 0 ? (WITHOUT_TABLE[name] ?? '') : feeds.map((one) => `\`${one.name}\``).join(', ');
    const test = feeds.length === 0 ? 'test/cli/fetch-sandbox.test.ts' : testOf(feeds);
    return `| ${method} \`${path}\` | ${what} | ${tables.join(', ')} | \`${name}\` | ${test} |`;
  };
  const head = ['| endpoint | pipeline | tables | client function | test |', '|---|---|---|---|---|'];
  return [
    '# Endpoints',
    '',
    'Generated from the declarations in `pipelines/` and `src/api/endpoints/` by `npm run docs`. `tonlake fetch` can call each',
    'endpoint; test/cli/fetch-sandbox.test.ts does so over HTTP. Recorded responses of each are decoded into its tables in',
    'test/pipelines/recorded.test.ts, and parsed by the client in test/client/recorded.test.ts.',
    '',
    ...head,
    ...endpointNames.filter((name) => !LATER.includes(name)).map(row),
    '',
    'In addition to the 36 endpoints of the first API description:',
    '',
    ...head,
    ...LATER.map(row),
    '',
  ].join('\n');
}

function testOf(feeds: readonly PipelineDef[]): string {
  return feeds.some(isEphemeral) ? 'test/watch/watch.test.ts' : 'test/pipelines/sandbox.test.ts';
}

/** The paths that a pipeline asks. */
function pathsOf({ endpoint, walk }: PipelineDef): readonly string[] {
  const own = endpoint.replace(/^[A-Z]+ /, '');
  return walk.kind === 'masterchain' ? [own, walk.windows.path] : [own];
}
