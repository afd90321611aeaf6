import { oneLine, StoreError } from '../core/errors.ts';
import type { S3Access } from '../objects/s3-client.ts';
import { quoteText } from './canonical-text.ts';
import { Database } from './database.ts';

/**
 * Loads an extension of DuckDB; installs it first if necessary, from `TONLAKE_DUCKDB_EXTENSIONS` if that is set: a folder, or an address.
 *
 * @throws {StoreError}
 */
export async function loadExtension(database: Database, name: 'httpfs' | 'avro' | 'iceberg'): Promise<void> {
  const repository = process.env['TONLAKE_DUCKDB_EXTENSIONS'] ?? '';
  try {
    await database.run(`LOAD ${name}`);
  } catch {
    try {
      if (repository !== '') await database.run(`SET custom_extension_repository = ${quoteText(repository)}`);
      await database.run(`INSTALL ${name}`);
      await database.run(`LOAD ${name}`);
    } catch (error) {
      const detail = oneLine(error instanceof Error ? error.message : String(error)).slice(0, 300);
      throw new StoreError(`store: DuckDB's extension ${name} cannot be installed (${detail})`, {
        hint: 'allow access to extensions.duckdb.org, or set TONLAKE_DUCKDB_EXTENSIONS to a copy; docs/lake.md says how to make one',
        cause: error,
      });
    }
  }
}

/** Requires the extension that reads object stores. @throws {StoreError} */
export async function requireHttpfs(): Promise<void> {
  const database = await Database.open(':memory:', { threads: '1' });
  try {
    await loadExtension(database, 'httpfs');
  } finally {
    database.close();
  }
}

/** Lets DuckDB read objects over HTTP. Objects never change, so their metadata is cached. */
export async function loadHttpfs(database: Database): Promise<void> {
  await loadExtension(database, 'httpfs');
  // Pauses of 0.1 s to 12.8 s. The default factor of 4 would add up to nine minutes.
  const patience = ['http_retries = 8', 'http_retry_wait_ms = 100', 'http_retry_backoff = 2'];
  const settings = [...patience, 'enable_http_metadata_cache = true', 'parquet_metadata_cache = true'];
  for (const setting of settings) await database.run(`SET ${setting}`);
}

/** Gives DuckDB access to a location, in place of an earlier one. */
export async function putSecret(database: Database, access: S3Access): Promise<void> {
  const { scope, keyId, secret, token, region, host, isSecure, isPathStyle } = access;
  const fields = [
    `TYPE s3, PROVIDER config, SCOPE ${quoteText(scope)}`,
    `KEY_ID ${quoteText(keyId)}, SECRET ${quoteText(secret)}`,
    ...(token === undefined ? [] : [`SESSION_TOKEN ${quoteText(token)}`]),
    `REGION ${quoteText(region)}`,
    ...(host === undefined ? [] : [`ENDPOINT ${quoteText(host)}, USE_SSL ${isSecure}`]),
    `URL_STYLE ${quoteText(isPathStyle ? 'path' : 'vhost')}`,
  ];
  try {
    await database.run(`CREATE OR REPLACE TEMPORARY SECRET tonlake_warehouse (${fields.join(', ')})`);
  } catch {
    // The error may repeat the statement.
    throw new StoreError(`store: ${scope}: DuckDB refuses the credentials`);
  }
}
