import * as z from 'zod';
import { rpsValue } from '../core/option-value.ts';
import { PRIORITIES } from '../rate-limit/priority.ts';

/**
 * Options that commands and the steps of jobs have in common: one schema of the values, and one description, which the help of the command
 * shows as well.
 */

const name = z.string().min(1);
const names = z.array(name);

/** Of `tonlake run`. */
export const runOptions = {
  rps: rpsValue.describe(
    'Maximum requests per second, or auto to find the limit. Default: 1 without a key, 10 with one, unlimited on this machine.',
  ),
  priority: z
    .enum(PRIORITIES)
    .describe('Priority among processes that share the rate limit of a network. Default: backfill.'),
  without: names.describe('Tables to leave out, such as account_states.'),
  columns: z
    .record(name, names.min(1))
    .describe('Columns of a table to export; its key, sort and proof columns are always included.'),
  withoutColumns: names.describe('Columns to leave out, such as messages.body_boc.'),
};

/** Of `tonlake verify`. */
export const verifyOptions = {
  deep: z
    .boolean()
    .describe('Also check the transaction chain of every account and both ends of every internal message.'),
  repair: z.boolean().describe('Repair damaged rows; fetch what cannot be recovered locally.'),
};

/** Of `tonlake publish iceberg`. */
export const publishOptions = {
  location: name.describe(
    'Path or address of the warehouse as readers see it, if it differs, such as outside of a container.',
  ),
  catalog: name.describe('Address of an Iceberg REST catalog that keeps the tables, without /v1.'),
  namespace: name.describe('Namespace in the catalog, with dots between its parts. Default: the network.'),
  catalogWarehouse: name.describe('Warehouse of a catalog that has several.'),
};

/** Of `tonlake export`. */
export const exportOptions = {
  as: name.describe(
    'Name of the table in a database, or schema.table, or of the first sheet of an .xlsx file. Default: that of the exported table; required for a query in a database.',
  ),
};
