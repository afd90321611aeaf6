import { tableSummary } from '../src/declare/describe-tables.ts';
import type { Registry } from '../src/declare/registry.ts';
import { type ColumnProof, proofKinds } from '../src/proof/column-proofs.ts';
import { knownErrors, uncheckedReasons } from '../src/proof/verdicts.ts';

/** What no column can say. */
const UNPROVEN = [
  '**That a hash belongs to the chain.** A transaction is compared with the hash that the source gives for it. A source that makes up whole ' +
    'transactions, with messages, hashes and headers that agree, is noticed only by counts, by links of headers, by the chains of accounts, ' +
    'and by a [witness](#a-witness).',
  '**The shard block of a transaction** follows from its account and its logical time, by the times of the headers. A source that gives two ' +
    'neighbouring blocks other times and counts can move a transaction from one to the other.',
  '**Outgoing messages to the outside**, whose destination the API does not give, and the StateInit of messages in emulated traces. Their ' +
    'hashes are proven by their transaction; their bodies have the hash that stands beside them, and nothing proves that hash.',
  '**Account states.** The hash of a state is proven; its balance only by arithmetic, and code, data and extra currencies not at all.',
  '**What the server decodes or makes up**: traces, names of opcodes, decoded bodies, `_extra`.',
  '**Rows of lists** (jettons, NFTs, actions and more): see [delivery.md](delivery.md).',
];

/** docs/proof.md: what proves each column, and what nothing proves. */
export function proofMarkdown(registry: Registry): string {
  const tables = registry.tables
    .map((table) => tableSummary(registry, table))
    .filter(({ columns }) => columns.some(({ proof }) => proof !== undefined));
  const uncovered = tables.flatMap(({ table, columns }) =>
    columns.flatMap(({ name, proof }) => (proof?.by.every((by) => by === 'nothing') ? [`\`${table}.${name}\``] : [])),
  );
  return [
    '# What proves each value',
    '',
    'Generated from the declarations by `npm run docs`. `tonlake show transactions` prints it beside the columns.',
    '',
    'A transaction is a tree of cells, and its hash is that of the tree. `run` and `follow` rebuild the cells from the columns of the',
    'transaction and its messages, before they commit, and compare the hash; `verify --deep` does it with the stored rows. A block with',
    'a transaction that has another hash is requested once more. If it stays, the block is stored and counts as unproven, for the',
    'reason `content`. `--content none` turns the comparison off.',
    '',
    'A server on this machine, as the sandbox is, may say that its hashes are not those of cells (`x-hashes: made-up`). Then nothing is',
    'compared with them, and its blocks count as unproven, for the reason `made-up hashes`. No other server is believed.',
    '',
    '| proven by | that is |',
    '|---|---|',
    ...Object.entries(proofKinds).map(([name, doc]) => `| ${name} | ${doc} |`),
    '',
    'Tests change each field of every recorded transaction by one unit, bit or name: the comparison with the hash notices the change, or the',
    'field is one without `hash` below.',
    '',
    ...tables.flatMap(({ table, columns }) => [
      `## ${table}`,
      '',
      '| column | proven by | |',
      '|---|---|---|',
      ...columns.flatMap(({ name, proof }) => (proof === undefined ? [] : [rowOf(name, proof)])),
      '',
    ]),
    '## What remains unproven',
    '',
    ...UNPROVEN.map((text) => `- ${text}`),
    `- **Columns that nothing proves**: ${uncovered.join(', ')}.`,
    '',
    'Columns that DuckDB derives from others (`block_time`, `block_date`) have the proof of those.',
    '',
    '## A witness',
    '',
    'With `--witness URL`, or `witness` in `tonlake.yaml`, `run` and `follow` ask a second server of the same network before each commit for the',
    'root hash of one masterchain block of it, chosen at random. Another hash ends the command before the commit, with both hashes. A server',
    'that is away, or does not know the block yet, holds up nothing: that is said, and counted in the report, because nothing was compared. It',
    'gets no API key. The address of the source itself is refused; that the two servers are independent is up to you.',
    '',
    '## Unchecked transactions',
    '',
    'A run counts them, by the reason. Facts that hold without a hash are checked all the same: the account against its messages, bodies against',
    '`body_hash`, opcodes, balances.',
    '',
    '| count | because |',
    '|---|---|',
    ...Object.entries(uncheckedReasons).map(([name, reason]) => `| \`${name}\` | ${reason} |`),
    '',
    '## Errors of sources that are corrected',
    '',
    'If undoing exactly one of these errors gives a transaction its hash, the true value is stored, the received one goes to `_extra`, and the',
    'run counts it.',
    '',
    '| error | the source sends | corrected columns | servers | reference |',
    '|---|---|---|---|---|',
    ...knownErrors.map(
      ({ name, doc, columns, servers, reference }) =>
        `| \`${name}\` | ${doc} | ${columns.map((column) => `\`${column}\``).join(', ')} | ${servers} | ${reference} |`,
    ),
    '',
  ].join('\n');
}

function rowOf(name: string, { by, note = '' }: ColumnProof): string {
  return `| \`${name}\` | ${by.join(', ')} | ${note} |`;
}
