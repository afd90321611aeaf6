// DuckDB's read_json with a given schema, flattened, into two Parquet files; from pages that lie on disk already, without HTTP.
//   node bench/peers/duckdb.mjs FOLDER OUT
import { DuckDBInstance } from '@duckdb/node-api';

const [folder, out] = process.argv.slice(2);
const message = (
  link,
) => `hash VARCHAR, source VARCHAR, destination VARCHAR, value HUGEINT, value_extra_currencies JSON,
  fwd_fee BIGINT, ihr_fee BIGINT, extra_flags VARCHAR, created_lt BIGINT, created_at BIGINT, opcode VARCHAR,
  decoded_opcode VARCHAR, ihr_disabled BOOLEAN, bounce BOOLEAN, bounced BOOLEAN, import_fee BIGINT, ${link} VARCHAR,
  message_content STRUCT(hash VARCHAR, body VARCHAR, decoded JSON), init_state STRUCT(hash VARCHAR, body VARCHAR)`;
const account = `STRUCT(hash VARCHAR, balance HUGEINT, extra_currencies JSON, account_status VARCHAR, frozen_hash VARCHAR,
  data_hash VARCHAR, code_hash VARCHAR)`;
const transaction = `STRUCT(account VARCHAR, hash VARCHAR, lt BIGINT, now BIGINT, mc_block_seqno BIGINT, trace_id VARCHAR,
  trace_external_hash VARCHAR, prev_trans_hash VARCHAR, prev_trans_lt BIGINT, orig_status VARCHAR, end_status VARCHAR,
  total_fees BIGINT, total_fees_extra_currencies JSON, description STRUCT("type" VARCHAR, aborted BOOLEAN, destroyed BOOLEAN,
  credit_first BOOLEAN, is_tock BOOLEAN, installed BOOLEAN, storage_ph STRUCT(storage_fees_collected BIGINT, status_change VARCHAR),
  credit_ph STRUCT(credit HUGEINT), compute_ph STRUCT(skipped BOOLEAN, reason VARCHAR, success BOOLEAN, msg_state_used BOOLEAN,
  account_activated BOOLEAN, gas_fees BIGINT, gas_used BIGINT, gas_limit BIGINT, "mode" BIGINT, exit_code BIGINT,
  vm_steps BIGINT, vm_init_state_hash VARCHAR, vm_final_state_hash VARCHAR), "action" STRUCT(success BOOLEAN, valid BOOLEAN,
  no_funds BOOLEAN, status_change VARCHAR, total_fwd_fees BIGINT, total_action_fees BIGINT, result_code BIGINT,
  tot_actions BIGINT, spec_actions BIGINT, skipped_actions BIGINT, msgs_created BIGINT, action_list_hash VARCHAR,
  tot_msg_size STRUCT(cells BIGINT, bits BIGINT))), block_ref STRUCT(workchain BIGINT, shard VARCHAR, seqno BIGINT),
  in_msg STRUCT(${message('in_msg_tx_hash')}), out_msgs STRUCT(${message('out_msg_tx_hash')})[],
  account_state_before ${account}, account_state_after ${account}, emulated BOOLEAN, finality VARCHAR)[]`;
const source = `(SELECT unnest(transactions) t FROM read_json('${folder}/*.json', format = 'newline_delimited',
  columns = {transactions: '${transaction}'}, maximum_object_size = 64000000))`;

/** Every field of a structure as a column of its own; a prefix where names repeat. */
const unnested = `SELECT t.* EXCLUDE (description, block_ref, in_msg, out_msgs, account_state_before, account_state_after),
  t.description."type" AS descr, t.description.aborted, t.description.destroyed, t.description.credit_first,
  t.description.is_tock, t.description.installed, t.description.storage_ph.storage_fees_collected,
  t.description.storage_ph.status_change AS storage_status_change, t.description.credit_ph.credit,
  ${fields('compute', 'compute_ph', 'skipped reason success msg_state_used account_activated gas_fees gas_used gas_limit mode exit_code vm_steps vm_init_state_hash vm_final_state_hash')},
  ${fields('action', 'action', 'success valid no_funds status_change total_fwd_fees total_action_fees result_code tot_actions spec_actions skipped_actions msgs_created action_list_hash')},
  t.description."action".tot_msg_size.cells, t.description."action".tot_msg_size.bits,
  t.block_ref.workchain, t.block_ref.shard, t.block_ref.seqno AS block_seqno,
  ${states('before')}, ${states('after')} FROM ${source}`;

function fields(prefix, phase, names) {
  return names
    .split(' ')
    .map((name) => `t.description."${phase}"."${name}" AS ${prefix}_${name}`)
    .join(', ');
}

function states(when) {
  return ['hash', 'balance', 'account_status', 'frozen_hash', 'data_hash', 'code_hash']
    .map((name) => `t.account_state_${when}.${name} AS ${when}_${name}`)
    .join(', ');
}

const content = `m.* EXCLUDE (message_content, init_state), m.message_content.hash AS body_hash, m.message_content.body,
  m.message_content.decoded, m.init_state.hash AS init_hash`;
const messages = `SELECT t.hash AS tx_hash, 'in' AS direction, ${content} FROM (SELECT t, t.in_msg AS m FROM ${source})
  WHERE m IS NOT NULL UNION ALL SELECT h, 'out', ${content} FROM (SELECT t.hash AS h, unnest(t.out_msgs) AS m FROM ${source})`;

const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
const connection = await instance.connect();
const to = (name) => `TO '${out}/${name}.parquet' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)`;
await connection.run(`COPY (${unnested}) ${to('transactions')}`);
await connection.run(`COPY (${messages}) ${to('messages')}`);
const reader = await connection.runAndReadAll(`SELECT count(*)::INTEGER FROM '${out}/transactions.parquet'`);
console.log(JSON.stringify({ rows: reader.getRows()[0]?.[0] }));
