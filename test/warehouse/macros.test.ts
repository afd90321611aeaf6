import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { namedLayouts } from '../../src/bodies/layouts.ts';
import { Database } from '../../src/sql/database.ts';
import { opcodeNames } from '../../src/warehouse/relations/code-names.ts';
import { declaredMacros } from '../../src/warehouse/relations/macros.ts';
import { hasShared, recordedAnswers } from '../client/shared.ts';

const database = await Database.open();
for (const { statement } of declaredMacros()) await database.run(statement());
afterAll(() => database.close());

/** The values of one row, as texts. */
async function row(sql: string, parameters?: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> {
  const { rows } = await database.query(sql, parameters);
  return (rows[0] ?? []).map((value) => (typeof value === 'object' && value !== null ? String(value) : value));
}

const RAW = '0:B113A994B5024A16719F69139328EB759596C38A25F59028B146FECDC3621DFE';
/** Calls of macros, and their values. */
const VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'an opcode has a name if it is known, signed or unsigned, and one label: its name, or its hex form': {
    'opcode_label(0)': 'text_comment',
    'opcode_label(-2)': '0xfffffffe',
    'opcode_label(NULL)': null,
    'opcode_name(-718113061)': 'excess',
    'opcode_name(3576854235)': 'excess',
    'opcode_name(1)': null,
    'opcode_name(NULL)': null,
    'opcode_hex(-718113061)': '0xd53276db',
    'opcode_hex(260734629)': '0x0f8a7ea5',
  },
  'an account has four forms, with - and _ or with + and /': {
    'friendly_address($raw)': 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
    'friendly_address($raw, bounceable := false)': 'UQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_p0p',
    'friendly_address($raw, testnet := true)': 'kQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_ntm',
    'friendly_address($raw, bounceable := false, testnet := true)': '0QCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_iaj',
    "raw_address('EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id/sDs')": RAW,
    'raw_address(lower($raw))': RAW,
  },
  'nanotons become TON without losing a digit': {
    'ton(1)': '0.000000001',
    'ton(-9223372036854775808)': '-9223372036.854775808',
    'typeof(ton(1))': 'DECIMAL(38,9)',
    "ton('5000000000000000001'::DECIMAL(38,0))": '5000000000.000000001',
  },
  'exit codes of the virtual machine and of actions have words; those that contracts choose have none': {
    'exit_code_name(9)': 'cell underflow',
    'exit_code_name(-14)': 'out of gas',
    'exit_code_name(0)': 'success',
    'exit_code_name(709)': null,
    'exit_code_name(NULL)': null,
    'action_result_name(37)': 'not enough TON',
    'action_result_name(35)': 'invalid source address of a message',
    'action_result_name(1000)': null,
  },
  'an account lies in the shard that begins as it does': {
    'shard_hex(shard_of($raw))': '8000000000000000',
    'shard_hex(shard_of($raw, depth := 1))': 'c000000000000000',
    'shard_hex(shard_of($raw, depth := 4))': 'b800000000000000',
    "shard_hex(shard_of('-1:' || repeat('3', 64), depth := 4))": '8000000000000000',
    'shard_of($raw, depth := 2)': -6917529027641081856n,
  },
};

test.each(Object.entries(VALUES))('%s', async (_, values) => {
  const sql = `SELECT ${Object.keys(values).join(', ')}, $raw`;
  expect(await row(sql, { raw: RAW })).toEqual([...Object.values(values), RAW]);
});

interface Book {
  readonly [raw: string]: { readonly user_friendly: string };
}

/** Address books of recorded answers: raw form to the form that the server shows. */
function books(): readonly (readonly [raw: string, friendly: string])[] {
  const kept = JSON.parse(readFileSync(new URL('../golden/client/addressBook.json', import.meta.url), 'utf8')) as Book;
  const others = ['/transactions', '/traces', '/actions', '/jetton/wallets']
    .flatMap(recordedAnswers)
    .map(({ body }) => {
      const answer = JSON.parse(body.toString()) as { readonly address_book?: Book };
      return answer.address_book ?? {};
    });
  const all = [kept, ...others].flatMap((book) =>
    Object.entries(book).map(([raw, { user_friendly: friendly }]) => [raw, friendly] as const),
  );
  return [...new Map(all.filter(([raw]) => raw.includes(':')))];
}

test('gas is told in one way where the server swaps it with the fees', async () => {
  const phases = 'values (1000, 400000), (0, 2500), (0, 0), (null, null)';
  expect(
    await database
      .query(`select gas_units(used, fees), gas_cost(used, fees) from (${phases}) as phase(used, fees)`)
      .then(({ rows }) => rows.map((cells) => cells.map(String))),
  ).toEqual([
    ['1000', '400000'],
    ['2500', '0'],
    ['0', '0'],
    ['null', 'null'],
  ]);
});

describe('addresses', () => {
  test('of recorded answers come out as the server shows them, both ways', async () => {
    const known = books();
    expect(known.length).toBeGreaterThan(hasShared ? 100 : 5);
    const { rows } = await database.query(
      `SELECT raw, friendly FROM (SELECT unnest(from_json($book, '[{"raw":"VARCHAR","friendly":"VARCHAR"}]'), recursive := true))
       WHERE raw_address(friendly) <> raw OR try_raw_address(friendly) IS NULL
         OR friendly_address(raw, bounceable := is_bounceable(friendly), testnet := is_testnet(friendly)) IS DISTINCT FROM friendly`,
      { book: JSON.stringify(known.map(([raw, friendly]) => ({ raw, friendly }))) },
    );
    expect(rows).toEqual([]);
  });

  test('a letter that is wrong is noticed by the CRC-16', async () => {
    const wrong = 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Ie_sDs';
    expect(await row('SELECT try_raw_address($wrong), is_bounceable($wrong)', { wrong })).toEqual([null, null]);
    await expect(database.query('SELECT raw_address($wrong)', { wrong })).rejects.toThrow(`not an address: ${wrong}`);
  });

  test('what is no standard address has no other form, and null stays null', async () => {
    for (const text of ['addr_none', '', '0:12', "x' or 1=1", 'EQ']) {
      expect(await row('SELECT try_raw_address($text), friendly_address($text)', { text })).toEqual([null, null]);
    }
    expect(await row('SELECT raw_address(NULL), friendly_address(NULL)')).toEqual([null, null]);
  });

  test('any raw address comes back from any of its forms', async () => {
    const account = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
    const addresses = fc.record({ workchain: fc.integer({ min: -128, max: 127 }), account });
    const raws = fc.sample(addresses, 200).map((each) => `${each.workchain}:${each.account.toUpperCase()}`);
    const { rows } = await database.query(
      `WITH forms AS MATERIALIZED (
        SELECT raw, b, t, friendly_address(raw, bounceable := b, testnet := t) AS friendly
        FROM (SELECT unnest($raws::JSON::VARCHAR[]) AS raw), (VALUES (true), (false)) AS x(b), (VALUES (true), (false)) AS y(t)
       )
       SELECT raw, friendly FROM forms
       WHERE try_raw_address(friendly) IS DISTINCT FROM raw OR is_bounceable(friendly) <> b OR is_testnet(friendly) <> t`,
      { raws: JSON.stringify(raws) },
    );
    expect(rows).toEqual([]);
  });
});

describe('numbers', () => {
  test('a sum of amounts beyond 38 digits fails or is null as a number, and is whole as text', async () => {
    const most = '9'.repeat(38);
    const many = `SELECT ${most}::DECIMAL(38,0) AS x FROM range(1000)`;
    await expect(row(`SELECT exact_sum(x) FROM (${many})`)).rejects.toThrow(
      'use exact_sum_text(x) or try_exact_sum(x)',
    );
    const once = 'SELECT typeof(exact_sum(x)), exact_sum(x) FROM';
    expect(await row(`${once} (SELECT ${most}::DECIMAL(38,0) AS x)`)).toEqual(['DECIMAL(38,0)', most]);
    expect(await row(`${once} (SELECT 5::DECIMAL(38,0) AS x WHERE false)`)).toEqual(['DECIMAL(38,0)', null]);
    const sums = (from: string) => row(`SELECT try_exact_sum(x), exact_sum_text(x) FROM (${from})`);
    expect(await sums(`SELECT ${most}::DECIMAL(38,0) AS x FROM range(1)`)).toEqual([most, most]);
    expect(await sums(many)).toEqual([null, (BigInt(most) * 1000n).toString()]);
    expect(await sums('SELECT 5::DECIMAL(38,0) AS x FROM range(3)')).toEqual(['15', '15']);
    expect(await sums('SELECT 5::DECIMAL(38,0) AS x WHERE false')).toEqual([null, null]);
  });
});

test('a hash in hex or base64url has the form of columns', async () => {
  const hex = 'fB'.repeat(32);
  const hash = Buffer.from(hex, 'hex').toString('base64');
  const forms = [hex, `0x${hex.toLowerCase()}`, hash, hash.replace(/\+/g, '-').replace(/\//g, '_').replace('=', '')];
  expect(await row(`SELECT ${forms.map((form) => `base64_hash('${form}')`)}, base64_hash(NULL)`)).toEqual([
    ...forms.map(() => hash),
    null,
  ]);
  await expect(row("SELECT base64_hash('69ab')")).rejects.toThrow('not a hash: 69ab');
});

describe('opcodes', () => {
  test('have the names that the server gives them, signed or unsigned', async () => {
    const told = new Map<string, string>();
    for (const { body } of ['/transactions', '/traces'].flatMap(recordedAnswers)) {
      const pairs = body.toString().matchAll(/"opcode":\s*"(0x[0-9a-f]{8})",\s*"decoded_opcode":\s*"([^"]+)"/g);
      for (const [, opcode = '', name = ''] of pairs) told.set(opcode, name);
    }
    if (hasShared) expect(told.size).toBeGreaterThan(20);
    for (const [opcode, name] of told) expect(opcodeNames.get(Number(opcode)), opcode).toBe(name);
  });
});

test('every layout of a body has an opcode with a name', () => {
  const opcodes = [...namedLayouts().values()].flatMap(({ opcode }) => opcode ?? []);
  expect(opcodes.length).toBeGreaterThan(20);
  expect(opcodes.filter((opcode) => !opcodeNames.has(opcode))).toEqual([]);
});

test('a shard of any depth contains its account, and its sibling does not', async () => {
  const { rows } = await database.query(
    `WITH accounts AS (SELECT '0:' || upper(md5(n::VARCHAR) || md5((n + 1)::VARCHAR)) AS account FROM range(20) AS r(n)),
      shards AS (SELECT account, depth, shard_of(account, depth := depth) AS shard FROM accounts, range(2, 61) AS d(depth))
     SELECT depth, account FROM shards
     WHERE NOT shard_contains(shard, account) OR shard_contains(xor(shard, 1::BIGINT << (64 - depth)::INTEGER), account)`,
  );
  expect(rows).toEqual([]);
});
