import type { Command } from 'commander';
import { oneLine, UsageError } from '../../core/errors.ts';
import type { Registry } from '../../declare/registry.ts';
import type { Explanation, SourceRecord } from '../../explain/explanation.ts';
import type { RetryEvent } from '../../http/source.ts';
import { type CommonOptions, withPlace } from '../common-options.ts';
import { findWarehouse } from '../find-warehouse.ts';
import { pasteable } from '../invocation.ts';
import { print } from '../streams.ts';

interface ExplainFlags extends CommonOptions {
  readonly raw?: boolean;
  readonly json?: boolean;
}

const ROW_HELP = `
The key is given as values in the order of the key columns, or as column=value for any column. Addresses can be raw or
user-friendly, hashes base64 or hex, shards and opcodes hex. tonlake describe TABLE shows the key of a table.

With --raw, the record is requested from the source and read without the decoder that made the row. Each field is equal, differs,
is missing (the source no longer sends it), or is not stored (no column has it, or its column was left out).

Exit code 1 if no row has the key, if its file or the proof is damaged, or if a field of chain data differs from the source. Rows
of changing lists, and fields that the server computes on each read, may differ.

Examples:
  tonlake explain row transactions 7ltaAgIdIqIm6EOHiX6cmAiVYKhc7kvyjIvCLEcLL/g=
  tonlake explain row messages tx_hash=ee5b5a02... direction=in --raw
  tonlake explain row jetton_masters EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs --json`;

/** `tonlake explain`: where rows are from. */
export function addExplain(program: Command): void {
  const explain = program.command('explain').description('show where a row is from, and how it was proven');
  withPlace(explain.command('row'))
    .description('show the ledger entry, file, requests and proof of a row')
    .argument('<table>', 'table or mart')
    .argument('<key...>', 'values of its key columns, or column=value')
    .option('--raw', 'compare the row with the record that the source sends now')
    .option('--json', 'print a JSON object')
    // Masterchain addresses and base64url hashes may begin with a hyphen.
    .allowUnknownOption()
    .addHelpText('after', ROW_HELP)
    .action(async (table: string, key: readonly string[], flags: ExplainFlags) => {
      await refuseOptions(key);
      const [{ explainRow }, { isSound }, { describeExplanation }, { warehouseRegistry }] = await Promise.all([
        import('../../explain/explain-row.ts'),
        import('../../explain/explanation.ts'),
        import('../../explain/describe-row.ts'),
        import('../../warehouse/query/warehouse-registry.ts'),
      ]);
      const warehouse = await findWarehouse(flags);
      const registry = await warehouseRegistry(warehouse);
      const explanation = await explainRow(warehouse, table, key, { registry });
      const records = flags.raw === true ? await readRecords(explanation, registry, flags) : [];
      print({ ...explanation, records }, flags.json, () => pasteable(describeExplanation(explanation, key, records)));
      if (!isSound(explanation, records)) process.exitCode = 1;
    });
}

/** @throws {UsageError} `bad-option` for a word that is neither an option nor a value of a key */
async function refuseOptions(key: readonly string[]): Promise<void> {
  const { base64Hash } = await import('../../explain/row-key.ts');
  const wrong = key.find((word) => /^-\D/.test(word) && base64Hash(word) === undefined);
  if (wrong === undefined) return;
  throw new UsageError(`usage: unknown option '${wrong}'`, { code: 'bad-option', hint: 'see --help' });
}

async function readRecords(
  explanation: Explanation,
  registry: Registry,
  { network }: ExplainFlags,
): Promise<readonly SourceRecord[]> {
  const [{ readSourceRecord }, { realEffects }] = await Promise.all([
    import('../../explain/source-record.ts'),
    import('../../core/effects.ts'),
  ]);
  const onRetry = ({ message, sleepMs }: RetryEvent): void => {
    process.stderr.write(`${oneLine(message)}; retrying in ${(sleepMs / 1000).toFixed(1)} s\n`);
  };
  const records: SourceRecord[] = [];
  for (const row of explanation.rows) {
    records.push(
      await readSourceRecord(explanation, row, { registry, network, effects: realEffects, waitMs: 0, onRetry }),
    );
  }
  return records;
}
