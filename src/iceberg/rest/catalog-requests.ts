import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { Effects } from '../../core/effects.ts';
import { oneLine, StoreError } from '../../core/errors.ts';
import type { Trial } from '../../core/trial.ts';
import { retry } from '../../http/retry.ts';
import { Secret, scrubError } from '../../http/secret.ts';
import { quoteText } from '../../http/server-text.ts';
import { type CatalogConfig, parseUri } from './catalog-config.ts';

/** A response of a catalog. */
export interface CatalogResponse {
  readonly status: number;
  /** JSON; undefined if there is none. */
  readonly body: unknown;
}

export interface CatalogRequest {
  readonly method: 'GET' | 'POST';
  /** Below the namespace: `tables/items`; undefined for the namespace itself. */
  readonly path?: string | undefined;
  readonly body?: object | undefined;
  /** Accepted statuses, besides 2xx. */
  readonly expected: readonly number[];
  /** Called before each retry; a result replaces the retry. */
  readonly recheck?: (() => Promise<CatalogResponse | undefined>) | undefined;
}

const REQUEST_MS = 60_000;
const ATTEMPTS = 6;
/** Smaller differences of clocks come from latency, and from a header without milliseconds. */
const MIN_SKEW_MS = 10_000;
const RETRY_HINT = 'run the same command again; tables show what was published before';
/** The token has expired. */
const EXPIRED: readonly number[] = [401, 419];

const configSchema = z.object({
  defaults: z.record(z.string(), z.string().nullish()).default({}),
  overrides: z.record(z.string(), z.string().nullish()).default({}),
});
const tokenSchema = z.object({ access_token: z.string() });
const errorSchema = z.object({ error: z.object({ message: z.string(), type: z.string().optional() }) });

interface Session {
  /** Address of the namespace. */
  readonly base: string;
  /** Address of all namespaces. */
  readonly namespaces: string;
}

/** Checks the access to a catalog. */
export function catalogTrial(config: CatalogConfig, effects: Effects): Trial {
  return {
    name: `log in to the Iceberg catalog at ${config.uri}`,
    attempt: async () => {
      const requests = new CatalogRequests(config, effects, 1);
      try {
        await requests.send({ method: 'GET', expected: [404] });
      } finally {
        await requests.close();
      }
    },
  };
}

/** Sends requests to a namespace of an Iceberg REST catalog. Retries transient failures; errors are one line. */
export class CatalogRequests {
  readonly #config: CatalogConfig;
  readonly #effects: Effects;
  readonly #attempts: number;
  #session: Promise<Session> | undefined;
  #token: Secret | undefined;
  #dispatcher: Dispatcher | undefined;
  #clockAheadMs = 0;

  constructor(config: CatalogConfig, effects: Effects, attempts = ATTEMPTS) {
    this.#config = config;
    this.#effects = effects;
    this.#attempts = attempts;
  }

  /** How far the clock of the catalog is ahead of ours, in milliseconds, by its last response; 0 for small differences. */
  get clockAheadMs(): number {
    return this.#clockAheadMs;
  }

  /** @throws {StoreError} `denied`, `catalog-failed` */
  async send(request: CatalogRequest): Promise<CatalogResponse> {
    this.#session ??= this.#configure();
    const { base } = await this.#session;
    return this.#send(request.path === undefined ? base : `${base}/${request.path}`, request);
  }

  /** Creates the namespace and its parents, unless they exist. */
  async createNamespace(): Promise<void> {
    this.#session ??= this.#configure();
    const { namespaces } = await this.#session;
    const { namespace } = this.#config;
    for (let depth = 1; depth <= namespace.length; depth++) {
      const body = { namespace: namespace.slice(0, depth), properties: {} };
      await this.#send(namespaces, { method: 'POST', body, expected: [409] });
    }
  }

  /** Fetches the settings of the catalog. Ours replace its defaults, its overrides replace ours. */
  async #configure(): Promise<Session> {
    const { uri, warehouse, prefix, namespace } = this.#config;
    const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`;
    const { body } = await this.#send(`${uri}/v1/config${query}`, { method: 'GET', expected: [] });
    const { defaults, overrides } = this.#parse(configSchema, body, 'settings');
    const own: Readonly<Record<string, string>> = prefix === undefined ? {} : { prefix };
    const all: Readonly<Record<string, string | null | undefined>> = { ...defaults, ...own, ...overrides };
    const at = overrides['uri'] ? parseUri(overrides['uri'], 'the override of the catalog') : uri;
    const separator = all['namespace-separator'] ?? '%1F';
    const namespaces = `${at}/v1/${all['prefix'] ? `${all['prefix']}/` : ''}namespaces`;
    return { namespaces, base: `${namespaces}/${namespace.map(encodeURIComponent).join(separator)}` };
  }

  #send(url: string, request: CatalogRequest): Promise<CatalogResponse> {
    const { signal } = new AbortController();
    const options = { attempts: this.#attempts, waitMs: 0, effects: this.#effects, signal };
    return retry(async (tried) => {
      const known = tried > 1 ? await request.recheck?.() : undefined;
      return known ?? this.#attempt(url, request);
    }, options);
  }

  async #attempt(url: string, request: CatalogRequest): Promise<CatalogResponse> {
    const { access } = this.#config;
    for (let tries = 1; ; tries++) {
      const response = await this.#exchange(url, request, await this.#authorization());
      const mayRenew = tries === 1 && access.kind === 'credential';
      if (mayRenew && EXPIRED.includes(response.status)) {
        this.#token = undefined;
        continue;
      }
      if (response.status < 300 || request.expected.includes(response.status)) return response;
      throw this.#refusal(response);
    }
  }

  async #authorization(): Promise<Readonly<Record<string, string>>> {
    const { access } = this.#config;
    if (access.kind === 'none') return {};
    if (access.kind === 'token') return { authorization: `Bearer ${access.token.reveal()}` };
    this.#token ??= await this.#fetchToken(access);
    return { authorization: `Bearer ${this.#token.reveal()}` };
  }

  /** OAuth 2.0 client credentials. */
  async #fetchToken(access: CatalogConfig['access'] & { readonly kind: 'credential' }): Promise<Secret> {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(access.clientId === '' ? {} : { client_id: access.clientId }),
      client_secret: access.secret.reveal(),
      scope: access.scope,
    });
    const response = await this.#exchange(access.server, { method: 'POST', expected: [] }, {}, form);
    if (response.status >= 300) throw this.#refusal(response);
    return new Secret(this.#parse(tokenSchema, response.body, 'token').access_token);
  }

  async #exchange(
    url: string,
    { method, body }: CatalogRequest,
    authorization: Readonly<Record<string, string>>,
    form?: URLSearchParams,
  ): Promise<CatalogResponse> {
    const { EnvHttpProxyAgent, fetch } = await import('undici');
    this.#dispatcher ??= new EnvHttpProxyAgent();
    const dispatcher = this.#dispatcher;
    const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
    try {
      const response = await fetch(url, {
        method,
        dispatcher,
        redirect: 'error',
        signal: AbortSignal.timeout(REQUEST_MS),
        headers: {
          ...authorization,
          accept: 'application/json',
          ...(method === 'POST' ? { 'content-type': type } : {}),
        },
        ...(method === 'POST' ? { body: form === undefined ? JSON.stringify(body ?? {}) : form.toString() } : {}),
      });
      this.#compareClocks(response.headers.get('date'));
      return { status: response.status, body: parseJson(await response.text()) };
    } catch (error) {
      const { cause } = error as { readonly cause?: unknown };
      throw this.#failure(`no answer (${this.#quote((cause as Error | undefined)?.message ?? String(error))})`, {
        code: 'catalog-failed',
        retryable: true,
        hint: RETRY_HINT,
      });
    }
  }

  #compareClocks(date: string | null): void {
    const ahead = date === null ? Number.NaN : Date.parse(date) - this.#effects.now();
    if (!Number.isNaN(ahead)) this.#clockAheadMs = Math.abs(ahead) < MIN_SKEW_MS ? 0 : ahead;
  }

  async close(): Promise<void> {
    await this.#dispatcher?.close();
  }

  /** The error of a failed request. */
  #refusal({ status, body }: CatalogResponse): StoreError {
    const reported = errorSchema.safeParse(body).data?.error;
    const detail = reported === undefined ? '' : ` (${this.#quote(`${reported.type ?? ''} ${reported.message}`)})`;
    if (status === 401 || status === 403 || status === 419)
      return this.#failure(`${status}${detail}`, {
        code: 'denied',
        hint: 'set PYICEBERG_CATALOG__DEFAULT__TOKEN, or PYICEBERG_CATALOG__DEFAULT__CREDENTIAL=id:secret',
      });
    if (status === 429 || status >= 500)
      return this.#failure(`${status}${detail}`, {
        code: 'catalog-failed',
        retryable: true,
        hint: RETRY_HINT,
      });
    const hint = 'check --catalog, --namespace and --catalog-warehouse';
    return this.#failure(`${status}${detail}`, { hint });
  }

  #failure(what: string, options: ConstructorParameters<typeof StoreError>[1]): StoreError {
    const error = new StoreError(`store: catalog ${this.#config.uri}: ${what}`, options);
    for (const secret of this.#secrets()) scrubError(error, secret);
    return error;
  }

  #quote(text: string): string {
    return quoteText(oneLine(text), (line) => this.#secrets().reduce((clean, secret) => secret.redact(clean), line));
  }

  #secrets(): readonly Secret[] {
    const { access } = this.#config;
    if (access.kind === 'none') return [];
    return access.kind === 'token'
      ? [access.token]
      : [access.secret, ...(this.#token === undefined ? [] : [this.#token])];
  }

  #parse<T>(schema: z.ZodType<T>, body: unknown, what: string): T {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    throw this.#failure(`expected ${what}, got something else`, {
      hint: 'check --catalog: the address of an Iceberg REST catalog, without /v1',
    });
  }
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
