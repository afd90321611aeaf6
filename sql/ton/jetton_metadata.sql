-- Jettons and what they say about themselves, as last read.
-- grain: one jetton
-- inputs: jetton_masters, token_info
-- columns:
--   address VARCHAR: address of the jetton
--   update_time_onchain INTEGER (seconds): Unix time at which the contract was read
--   update_time_metadata INTEGER (seconds): Unix time at which the metadata were read
--   mintable BOOLEAN: more can be minted
--   admin_address VARCHAR: who may mint
--   jetton_content_onchain VARCHAR: content on chain, as JSON
--   jetton_wallet_code_hash VARCHAR: hash of the code of its wallets
--   code_hash VARCHAR: hash of its code
--   metadata_status INTEGER: 0 without metadata outside of the chain, 1 if they were read, -1 if they could not be
--   symbol VARCHAR: symbol
--   name VARCHAR: name
--   description VARCHAR: description
--   image VARCHAR: address of an image
--   image_data VARCHAR: image in base64
--   decimals INTEGER: digits after the decimal point; null means 9
--   sources STRUCT(symbol VARCHAR, "name" VARCHAR, description VARCHAR, image VARCHAR, image_data VARCHAR, decimals VARCHAR): where each comes from: onchain, offchain, or empty
--   tonapi_image_url VARCHAR: null
--   adding_date INTEGER (seconds): Unix time at which the contract was read
WITH masters AS (
  SELECT *, TRY_CAST(jetton_content AS JSON) AS content FROM main.jetton_masters
  QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
), metadata AS (
  SELECT *, TRY_CAST(extra AS JSON) AS more FROM main.token_info WHERE type = 'jetton_masters'
  QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
)
SELECT
  masters.address,
  epoch(masters._read_at)::INTEGER AS update_time_onchain,
  epoch(metadata._read_at)::INTEGER AS update_time_metadata,
  mintable,
  admin_address,
  jetton_content AS jetton_content_onchain,
  jetton_wallet_code_hash,
  code_hash,
  CASE WHEN metadata.address IS NULL OR (content->>'uri') IS NULL THEN 0 WHEN valid THEN 1 ELSE -1 END AS metadata_status,
  coalesce(metadata.symbol, (content->>'symbol')) AS symbol,
  coalesce(metadata.name, (content->>'name')) AS name,
  coalesce(metadata.description, (content->>'description')) AS description,
  coalesce(metadata.image, (content->>'image')) AS image,
  coalesce((more->>'image_data'), (content->>'image_data')) AS image_data,
  TRY_CAST(coalesce((more->>'decimals'), (content->>'decimals')) AS INTEGER) AS decimals,
  {
    'symbol': CASE WHEN (content->>'symbol') IS NOT NULL THEN 'onchain' WHEN metadata.symbol IS NOT NULL THEN 'offchain' ELSE '' END,
    'name': CASE WHEN (content->>'name') IS NOT NULL THEN 'onchain' WHEN metadata.name IS NOT NULL THEN 'offchain' ELSE '' END,
    'description': CASE WHEN (content->>'description') IS NOT NULL THEN 'onchain' WHEN metadata.description IS NOT NULL THEN 'offchain' ELSE '' END,
    'image': CASE WHEN (content->>'image') IS NOT NULL THEN 'onchain' WHEN metadata.image IS NOT NULL THEN 'offchain' ELSE '' END,
    'image_data': CASE WHEN (content->>'image_data') IS NOT NULL THEN 'onchain' WHEN (more->>'image_data') IS NOT NULL THEN 'offchain' ELSE '' END,
    'decimals': CASE WHEN (content->>'decimals') IS NOT NULL THEN 'onchain' WHEN (more->>'decimals') IS NOT NULL THEN 'offchain' ELSE '' END
  } AS sources,
  NULL::VARCHAR AS tonapi_image_url,
  epoch(masters._read_at)::INTEGER AS adding_date
FROM masters
LEFT JOIN metadata ON metadata.address = masters.address
