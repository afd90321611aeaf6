import { readFileSync } from 'node:fs';
import { type EndpointName, endpointNames, endpointOf } from '../src/api/endpoints.ts';
import { tableSummary } from '../src/declare/describe-tables.ts';
import { isEphemeral, type PipelineDef } from '../src/declare/pipeline.ts';
import type { Registry } from '../src/declare/registry.ts';

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

/** Endpoints without a table, each with its use. */
const WITHOUT_TABLE: Partial<Readonly<Record<EndpointName, string>>> = {
  masterchainInfo: 'no table: first and last block of every walk',
  masterchainBlockShards: 'no table: same rows as `/blocks?mc_seqno=`, exported by `blocks`',
  masterchainBlockShardState: 'no table: the mart `shard_state` is derived from headers; proves them during an export',
  sendMessageToNetwork: 'no table: it sends to the network, so pipelines cannot call it',
};

/** Endpoints added after the first description of the API, as `GET /nft/sales`. */
function laterEndpoints(): readonly string[] {
  const facts: readonly { readonly method: string; readonly path: string; readonly in_seed: boolean }[] = JSON.parse(
    readFileSync('api/endpoints.json', 'utf8'),
  );
  return facts.flatMap(({ method, path, in_seed: isFirst }) => (isFirst ? [] : [`${method} ${path}`]));
}

/** docs/endpoints.md: every endpoint with its pipeline, tables, client function and test. */
export function endpointsMarkdown(registry: Registry): string {
  const row = (name: EndpointName): string => {
    const { method, path } = endpointOf(name);
    const feeds = registry.pipelines.filter((pipeline) => pathsOf(pipeline).includes(path));
    const tables = feeds.flatMap((pipeline) => pipeline.tables.map((table) => `\`${table.name}\``));
    const what = feeds.length === 0 ? (WITHOUT_TABLE[name] ?? '') : feeds.map((one) => `\`${one.name}\``).join(', ');
    const test = feeds.length === 0 ? 'test/cli/api-sandbox.test.ts' : testOf(feeds);
    return `| ${method} \`${path}\` | ${what} | ${tables.join(', ')} | \`${name}\` | ${test} |`;
  };
  const later = laterEndpoints();
  const isLater = (name: EndpointName): boolean => {
    const { method, path } = endpointOf(name);
    return later.includes(`${method} ${path}`);
  };
  const head = ['| endpoint | pipeline | tables | client function | test |', '|---|---|---|---|---|'];
  return [
    '# Endpoints',
    '',
    'Generated from the declarations in `pipelines/` and `src/api/endpoints/` by `npm run docs`. `tonlake api` can call each',
    'endpoint; test/cli/api-sandbox.test.ts does so over HTTP. Recorded responses of each are decoded into its tables in',
    'test/pipelines/recorded.test.ts, and parsed by the client in test/client/recorded.test.ts.',
    '',
    ...head,
    ...endpointNames.filter((name) => !isLater(name)).map(row),
    '',
    'In addition to the 36 endpoints of the first API description:',
    '',
    ...head,
    ...endpointNames.filter(isLater).map(row),
    '',
  ].join('\n');
}

function testOf(feeds: readonly PipelineDef[]): string {
  return feeds.some(isEphemeral) ? 'test/watch/watch.test.ts' : 'test/pipelines/sandbox.test.ts';
}

/** The paths that a pipeline requests. */
function pathsOf({ endpoint, walk }: PipelineDef): readonly string[] {
  const own = endpoint.replace(/^[A-Z]+ /, '');
  return walk.kind === 'masterchain' ? [own, walk.windows.path] : [own];
}
