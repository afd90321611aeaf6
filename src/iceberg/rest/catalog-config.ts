import { type UsageError, usage } from '../../core/errors.ts';
import { sha256Of } from '../../core/sha256.ts';
import { Secret } from '../../http/secret.ts';

/** Address, namespace and credentials of an Iceberg REST catalog. */
export interface CatalogConfig {
  /** Address below which paths begin with `/v1/`; without a slash at the end. */
  readonly uri: string;
  /** Parts of the name. */
  readonly namespace: readonly string[];
  /** Warehouse of a catalog that has several, as the catalog calls it. */
  readonly warehouse: string | undefined;
  readonly prefix: string | undefined;
  readonly access: CatalogAccess;
}

export type CatalogAccess =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: Secret }
  | {
      readonly kind: 'credential';
      readonly clientId: string;
      readonly secret: Secret;
      readonly scope: string;
      /** Address of the token endpoint. */
      readonly server: string;
    };

export interface CatalogFlags {
  readonly uri: string;
  /** With dots between its parts. */
  readonly namespace: string;
  readonly warehouse?: string | undefined;
}

/** pyiceberg's names for the settings of the catalog `default`. */
const ENV = 'PYICEBERG_CATALOG__DEFAULT__';

/**
 * Combines the address of a command with credentials of the environment.
 * @throws {UsageError}
 */
export function readCatalogConfig(flags: CatalogFlags, env: NodeJS.ProcessEnv = process.env): CatalogConfig {
  const setting = (name: string): string | undefined => env[ENV + name] || undefined;
  const uri = parseUri(flags.uri);
  const namespace = flags.namespace.split('.');
  if (namespace.includes('')) throw badCatalog('a name or names with dots between them', flags.namespace);
  const [token, credential] = [setting('TOKEN'), setting('CREDENTIAL')];
  const config = { uri, namespace, warehouse: flags.warehouse ?? setting('WAREHOUSE'), prefix: setting('PREFIX') };
  if (token !== undefined) return { ...config, access: { kind: 'token', token: new Secret(token) } };
  if (credential === undefined) return { ...config, access: { kind: 'none' } };
  const at = credential.indexOf(':');
  const [clientId, secret] = [credential.slice(0, Math.max(0, at)), credential.slice(at + 1)];
  const own = setting('OAUTH2_SERVER_URI');
  const server = own === undefined ? `${uri}/v1/oauth/tokens` : parseUri(own, `${ENV}OAUTH2_SERVER_URI`);
  const scope = setting('SCOPE') ?? 'catalog';
  return { ...config, access: { kind: 'credential', clientId, secret: new Secret(secret), scope, server } };
}

/** The namespace of a network, by default. @throws {UsageError} if the network has no name */
export function namespaceOf(network: string): string {
  if (/^[\w-]+$/.test(network)) return network;
  throw usage(
    'a namespace',
    `none for the network ${network}`,
    'choose a name for the tables of this network: --namespace ton, or namespace: ton in a job',
  );
}

/** Identifies a namespace of a catalog: 12 hex digits. */
export function catalogId({ uri, warehouse, prefix, namespace }: CatalogConfig): string {
  const text = JSON.stringify([uri, warehouse ?? '', prefix ?? '', namespace]);
  return sha256Of(text, 12);
}

/** Refuses an option of a catalog without a catalog. @throws {UsageError} */
export function requireCatalog(got: string | undefined): void {
  if (got === undefined) return;
  throw usage(
    'a namespace or a warehouse of a catalog only with its address',
    got,
    'name the catalog as well: --catalog https://host/path, or catalog: in a job',
  );
}

/** The address of a server, without a slash at its end. */
export function parseUri(text: string, option = '--catalog'): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw badCatalog(`an http or https address for ${option}`, text.replace(/\/\/[^/]*@/, '//...@'));
  if (url.username !== '' || url.password !== '')
    throw badCatalog(`an address without a password for ${option}`, `//...@${url.host}`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function badCatalog(expected: string, got: string): UsageError {
  const hint = `--catalog https://host/path names it; credentials: ${ENV}TOKEN, or ${ENV}CREDENTIAL=id:secret`;
  return usage(expected, got, hint);
}
