import { describe, expect, test } from 'vitest';
import { declaredEndpoint } from '../../src/api/endpoints.ts';
import { typeOfField } from '../../src/api/field-path.ts';
import { field, type TableOptions, table, text } from '../../src/declare/index.ts';

describe('the type of a field, as the description of the API says it', () => {
  test.each([
    ['Transaction', '/lt', { kind: 'decimal-int64', nullable: false, unit: 'lt' }],
    ['Transaction', '/block_ref/shard', { kind: 'hex-shard', nullable: false, unit: undefined }],
    ['Transaction', '/account_state_after/balance', { kind: 'decimal-int64', nullable: true, unit: 'nanoton' }],
    ['Block', '/prev_blocks', { kind: 'json', nullable: true, unit: undefined }],
    ['Block', '/gen_utime', { kind: 'unix-seconds-string', nullable: false, unit: 'seconds' }],
    ['AccountState', '/account_status', { kind: 'text', nullable: true, unit: undefined }],
  ])('%s %s', (record, pointer, type) => {
    expect(typeOfField(record, pointer)).toEqual(type);
  });

  test('a field below an object that may be missing may be missing', () => {
    expect(typeOfField('ComputePhase', '/exit_code')?.nullable).toBe(true);
    expect(typeOfField('Transaction', '/in_msg/hash')?.nullable).toBe(true);
    expect(typeOfField('Message', '/hash')?.nullable).toBe(false);
  });

  test('a field of the details of some actions may be missing in others', () => {
    expect(typeOfField('Action', '/details/asset_in')).toMatchObject({ kind: 'raw-address', nullable: true });
  });

  test('no pointer leads into a list, nor to what no record has', () => {
    expect(typeOfField('Transaction', '/out_msgs/hash')).toBeUndefined();
    expect(typeOfField('Transaction', '/nothing')).toBeUndefined();
    expect(typeOfField('Nothing', '/lt')).toBeUndefined();
  });
});

describe('a table of a record', () => {
  const columnsOf = (columns: TableOptions['columns']) =>
    table('headers', { grain: 'one block', key: ['seqno'], sort: [], columns }).of(
      'GET /blocks',
      declaredEndpoint('GET /blocks').answer,
    ).columns;

  test('takes from it what the declaration leaves out', () => {
    expect(columnsOf({ end: field('/end_lt', 'last logical time') })[0]).toMatchObject({
      ...{ name: 'end', kind: 'decimal-int64', nullable: false, unit: 'lt', doc: 'last logical time' },
    });
  });

  test('the declaration wins where it says more', () => {
    const [end, previous, flags] = columnsOf({
      end: field('/end_lt', 'last logical time').nullable().unit('ticks'),
      previous: field('/prev_blocks', 'blocks before').required(),
      flags: text('/flags', 'as text'),
    });
    expect(end).toMatchObject({ nullable: true, unit: 'ticks' });
    expect(previous).toMatchObject({ nullable: false });
    expect(flags).toMatchObject({ kind: 'text' });
  });

  test('a field that the record does not have is refused', () => {
    expect(() => columnsOf({ end: field('/endlt', 'last logical time') })).toThrow(
      "usage: expected a field of the table's record for column end, got /endlt",
    );
  });
});
