import { describe, expect, it } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { columnProofs, proofsByRole } from '../../src/proof/column-proofs.ts';
import { tonlake } from '../cli.ts';

const registry = await loadRegistry();

describe('what proves a column', () => {
  it('stands beside it in `show transactions`', async () => {
    const { stdout } = await tonlake(['show', 'transactions']);
    expect(stdout).toMatch(/^prev_trans_hash +VARCHAR +hash, chain +previous transaction of the account/m);
    expect(stdout).toMatch(/^account_state_balance_after +BIGINT +arithmetic +balance after/m);
    expect(stdout).toMatch(/^finality +VARCHAR +nothing +/m);
    expect((await tonlake(['show', 'nft_items'])).stdout).not.toContain('what proves');
  });

  it('is declared for columns that are there', () => {
    for (const [role, proofs] of Object.entries(proofsByRole)) {
      const names = registry.tables.find(({ plays }) => plays === role)?.columns.map(({ name }) => name) ?? [];
      expect(Object.keys(proofs).filter((name) => !names.includes(name))).toEqual([]);
    }
  });

  it('is, for account states, what proves the same column of transactions', () => {
    const proofs = columnProofs(registry.table('account_states'), registry.table('transactions'));
    expect(proofs?.get('balance')).toEqual({ by: ['table'], note: '`transactions.account_state_balance_after`' });
    expect(proofs?.get('code_boc')).toEqual({ by: ['nothing'] });
  });
});
