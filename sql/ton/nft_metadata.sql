-- NFTs and collections, and what they say about themselves, as last read.
-- grain: one NFT or collection
-- inputs: nft_items, nft_collections, token_info
-- columns:
--   type VARCHAR: item or collection
--   address VARCHAR: address of the NFT or the collection
--   update_time_onchain BIGINT (seconds): Unix time at which the contract was read
--   update_time_metadata BIGINT (seconds): Unix time at which the metadata were read
--   parent_address VARCHAR: collection of an item; owner of a collection
--   content_onchain VARCHAR: content on chain, as JSON
--   metadata_status INTEGER: 0 without metadata, 1 if they were read, -1 if they could not be
--   name VARCHAR: name
--   description VARCHAR: description
--   image VARCHAR: address of an image
--   image_data VARCHAR: image in base64
--   attributes VARCHAR: attributes, as JSON
--   sources VARCHAR: null
--   tonapi_image_url VARCHAR: null
--   adding_date INTEGER (seconds): Unix time at which the contract was read
WITH contracts AS (
  SELECT 'item' AS type, address, collection_address AS parent_address, content_onchain, _read_at
  FROM (SELECT * FROM main.nft_items QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1)
  UNION ALL
  SELECT 'collection', address, owner_address, collection_content, _read_at
  FROM (SELECT * FROM main.nft_collections QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1)
), metadata AS (
  SELECT *, TRY_CAST(extra AS JSON) AS more, CASE type WHEN 'nft_items' THEN 'item' ELSE 'collection' END AS kind
  FROM main.token_info WHERE type IN ('nft_items', 'nft_collections')
  QUALIFY row_number() OVER (PARTITION BY address, type ORDER BY _read_at DESC) = 1
)
SELECT
  contracts.type,
  contracts.address,
  epoch(contracts._read_at)::BIGINT AS update_time_onchain,
  epoch(metadata._read_at)::BIGINT AS update_time_metadata,
  parent_address,
  content_onchain,
  CASE WHEN metadata.address IS NULL THEN 0 WHEN valid THEN 1 ELSE -1 END AS metadata_status,
  metadata.name,
  metadata.description,
  metadata.image,
  (more->>'image_data') AS image_data,
  (more->>'attributes') AS attributes,
  NULL::VARCHAR AS sources,
  NULL::VARCHAR AS tonapi_image_url,
  epoch(contracts._read_at)::INTEGER AS adding_date
FROM contracts
LEFT JOIN metadata ON metadata.address = contracts.address AND kind = contracts.type
