import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import * as z from 'zod';
import { failedWith } from '../core/failed-with.ts';
import { rpsValue } from '../core/option-value.ts';
import { readYaml } from '../core/yaml.ts';
import { isObjectUrl } from '../objects/s3-location.ts';

export const PROJECT_FILE = 'tonlake.yaml';

const text = z.string().min(1);
const folder = (of: string) => text.optional().describe(`${of} Relative to the file.`);

/** The schema of tonlake.yaml; docs/project.md is generated from it. */
export const projectSchema = z.strictObject({
  network: text.optional().describe('mainnet, testnet, sandbox, or a base URL. Default: mainnet.'),
  warehouse: folder('Folder of Parquet files, s3://bucket/prefix, or path of a .duckdb file. Default: data/<network>.'),
  rps: rpsValue
    .optional()
    .describe('Maximum requests per second, or auto to find the limit. Default: 1 without a key, 10 with one.'),
  witness: text
    .optional()
    .describe(
      'Base URL of a second server of the network, which a block of each commit is compared with. Default: none.',
    ),
  s3_endpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Object store of s3:// paths. Default: Amazon S3.'),
  pipelines: folder('Folder of your own pipelines.'),
  marts: folder('Folder of your own marts.'),
  checks: folder('Folder of your own checks.'),
  layouts: folder('YAML file with layouts of bodies for parse_boc and decode_body.'),
  prices: folder('CSV or Parquet file with the rows of ton.prices_daily.'),
  labels: folder('CSV or Parquet file with the rows of ton.labels.'),
  queries: folder('Folder of saved queries for the page.'),
  catalog: z
    .strictObject({
      url: z.url({ protocol: /^https?$/ }).describe('Address of the catalog, without /v1.'),
      namespace: text.optional().describe('Namespace, with dots between its parts. Default: the network.'),
      warehouse: text.optional().describe('Warehouse of a catalog that has several.'),
    })
    .optional()
    .describe('Iceberg REST catalog that keeps published tables.'),
});

type ProjectFields = z.infer<typeof projectSchema>;

/** The settings of a project, as options of commands are called; paths are relative to the working folder. */
export type ProjectOptions = Readonly<Record<string, string | number | undefined>> & {
  readonly layouts?: string | undefined;
};

/**
 * Reads `tonlake.yaml` of a folder, or of the nearest folder above that has one; undefined if none has.
 *
 * @throws {UsageError} with path and line
 */
export function readProject(from = '.'): ProjectOptions | undefined {
  for (let at = resolve(from); ; at = dirname(at)) {
    const content = readIfAny(join(at, PROJECT_FILE));
    if (content !== undefined) {
      const file = relative(resolve(from), join(at, PROJECT_FILE));
      const origin = { file, line: 1, what: 'project', docs: 'docs/project.md' };
      return optionsOf(readYaml(content, origin, projectSchema).value, relative(resolve(from), at));
    }
    if (at === dirname(at)) return undefined;
  }
}

/** The warehouse of job files that name none: that of the environment, or of the project. */
export function fallbackWarehouse(): string | undefined {
  const named = process.env['TONLAKE_WAREHOUSE'] || readProject()?.['warehouse'];
  return named === undefined ? undefined : String(named);
}

function readIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (failedWith(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return undefined;
    throw error;
  }
}

function optionsOf(fields: ProjectFields, folder: string): ProjectOptions {
  const path = (value: string | undefined): string | undefined =>
    value === undefined || isObjectUrl(value) || value.startsWith('/') ? value : join(folder, value);
  const { network, rps, witness, catalog } = fields;
  return {
    network,
    rps,
    witness,
    warehouse: path(fields.warehouse),
    s3Endpoint: fields.s3_endpoint,
    pipelines: path(fields.pipelines),
    marts: path(fields.marts),
    checks: path(fields.checks),
    layouts: path(fields.layouts),
    queries: path(fields.queries),
    prices: path(fields.prices),
    labels: path(fields.labels),
    catalog: catalog?.url,
    namespace: catalog?.namespace,
    catalogWarehouse: catalog?.warehouse,
  };
}
