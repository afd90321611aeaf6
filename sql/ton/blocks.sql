-- Blocks of the masterchain and of all workchains.
-- grain: one block
-- inputs: blocks
-- columns:
--   workchain INTEGER: -1 is the masterchain, 0 the basechain
--   shard BIGINT: shard of the block
--   seqno INTEGER: sequence number within the shard
--   root_hash VARCHAR: root cell hash of the block
--   file_hash VARCHAR: hash of the serialized block
--   mc_block_workchain INTEGER: always -1
--   mc_block_shard BIGINT: always the masterchain shard
--   mc_block_seqno INTEGER: masterchain block that includes this block; for a masterchain block, its own seqno
--   global_id INTEGER: network id: -239 is mainnet, -3 testnet
--   version BIGINT: version of the block format
--   after_merge BOOLEAN: first block after a merge of two shards
--   before_split BOOLEAN: last block before a split of the shard
--   after_split BOOLEAN: first block after a split of the shard
--   want_merge BOOLEAN: the validators propose a merge
--   want_split BOOLEAN: the validators propose a split
--   key_block BOOLEAN: key block: contains the network configuration
--   vert_seqno_incr BOOLEAN: the vertical seqno is increased
--   flags INTEGER: header flags
--   gen_utime BIGINT (seconds): time of the block
--   start_lt BIGINT (lt): first logical time of the block
--   end_lt BIGINT (lt): last logical time of the block
--   validator_list_hash_short INTEGER: short hash of the validator list; unsigned on chain, signed here
--   gen_catchain_seqno INTEGER: seqno of the catchain session that created the block
--   min_ref_mc_seqno INTEGER: oldest masterchain block that it references
--   prev_key_block_seqno INTEGER: seqno of the previous key block
--   vert_seqno INTEGER: vertical seqno
--   master_ref_seqno INTEGER: masterchain block that a shard block references, not the one that includes it; 0 or its own seqno for a masterchain block
--   rand_seed VARCHAR: random seed of the block
--   created_by VARCHAR: public key of the validator
--   tx_count BIGINT: number of transactions; an export is verified against it
--   block_time TIMESTAMP: UTC time of gen_utime
--   block_date DATE: UTC date of gen_utime; the partition of the files
SELECT
  workchain,
  shard,
  seqno,
  root_hash,
  file_hash,
  mc_block_workchain,
  mc_block_shard,
  mc_block_seqno,
  global_id,
  version,
  after_merge,
  before_split,
  after_split,
  want_merge,
  want_split,
  key_block,
  vert_seqno_incr,
  flags,
  gen_utime,
  start_lt,
  end_lt,
  validator_list_hash_short,
  gen_catchain_seqno,
  min_ref_mc_seqno,
  prev_key_block_seqno,
  vert_seqno,
  master_ref_seqno,
  rand_seed,
  created_by,
  tx_count,
  block_time,
  block_date
FROM main.blocks
