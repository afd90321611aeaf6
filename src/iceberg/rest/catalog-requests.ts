import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { Effects } from '../../core/effects.ts';
import { oneLine, StoreError } from '../../core/errors.ts';
import type { Trial } from '../../core/trial.ts';
import { retry } from '../../http/retry.ts';
import { Secret, scrubError } from '../../http/secret.ts';
import { quoteText } from '../../http/server-text.ts';
import { type CatalogPlace, parseUri } from './catalog-place.ts';

/** One answer of a catalog. */
export interface CatalogAnswer {
  readonly status: number;
  /** JSON; undefined if there is none. */
  readonly body: unknown;
}

export interface CatalogRequest {
  readonly method: 'GET' | 'POST';
  /** Below the namespace: `tables/items`; undefined for the namespace itself. */
  readonly path?: string | undefined;
  readonly body?: object | undefined;
  /** Statuses that are answers, besides 2xx. */
  readonly expected: readonly number[];
  /** Called before each attempt but the first: a result makes it unnecessary. */
  readonly recheck?: (() => Promise<CatalogAnswer | undefined>) | undefined;
}

const REQUEST_MS = 60_000;
const ATTEMPTS = 6;
/** Smaller differences of clocks are those of an answer on its way, and of a header without milliseconds. */
const LEAST_SKEW_MS = 10_000;
/** The server does not accept the token any more. */
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

/** Tries whether a catalog lets us in. */
export function catalogTrial(place: CatalogPlace, effects: Effects): Trial {
  return {
    name: `log in to the Iceberg catalog at ${place.uri}`,
    attempt: async () => {
      const requests = new CatalogRequests(place, effects, 1);
      try {
        await requests.send({ method: 'GET', expected: [404] });
      } finally {
        await requests.close();
      }
    },
  };
}

/** Requests to a namespace of an Iceberg REST catalog. Each is tried again as its failure allows, and throws one line otherwise. */
export class CatalogRequests {
  readonly #place: CatalogPlace;
  readonly #effects: Effects;
  readonly #attempts: number;
  #session: Promise<Session> | undefined;
  #token: Secret | undefined;
  #dispatcher: Dispatcher | undefined;
  #clockAheadMs = 0;

  constructor(place: CatalogPlace, effects: Effects, attempts = ATTEMPTS) {
    this.#place = place;
    this.#effects = effects;
    this.#attempts = attempts;
  }

  /** How far the clock of the catalog is ahead of ours, as its last answer told: 0 if the difference is small. */
  get clockAheadMs(): number {
    return this.#clockAheadMs;
  }

  /** @throws {StoreError} `denied`, `catalog-failed`, `catalog-refused` */
  async send(request: CatalogRequest): Promise<CatalogAnswer> {
    this.#session ??= this.#configure();
    const { base } = await this.#session;
    return this.#send(request.path === undefined ? base : `${base}/${request.path}`, request);
  }

  /** Makes the namespace with those above it, unless they are there. */
  async createNamespace(): Promise<void> {
    this.#session ??= this.#configure();
    const { namespaces } = await this.#session;
    const { namespace } = this.#place;
    for (let depth = 1; depth <= namespace.length; depth++) {
      const body = { namespace: namespace.slice(0, depth), properties: {} };
      await this.#send(namespaces, { method: 'POST', body, expected: [409] });
    }
  }

  /** Asks the catalog for its settings: defaults give way to ours, and ours to its overrides. */
  async #configure(): Promise<Session> {
    const { uri, warehouse, prefix, namespace } = this.#place;
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

  #send(url: string, request: CatalogRequest): Promise<CatalogAnswer> {
    const { signal } = new AbortController();
    const options = { attempts: this.#attempts, waitMs: 0, effects: this.#effects, signal };
    return retry(async (tried) => {
      const known = tried > 1 ? await request.recheck?.() : undefined;
      return known ?? this.#attempt(url, request);
    }, options);
  }

  async #attempt(url: string, request: CatalogRequest): Promise<CatalogAnswer> {
    const { access } = this.#place;
    for (let tries = 1; ; tries++) {
      const answer = await this.#exchange(url, request, await this.#authorization());
      const mayRenew = tries === 1 && access.kind === 'credential';
      if (mayRenew && EXPIRED.includes(answer.status)) {
        this.#token = undefined;
        continue;
      }
      if (answer.status < 300 || request.expected.includes(answer.status)) return answer;
      throw this.#refusal(answer);
    }
  }

  async #authorization(): Promise<Readonly<Record<string, string>>> {
    const { access } = this.#place;
    if (access.kind === 'none') return {};
    if (access.kind === 'token') return { authorization: `Bearer ${access.token.reveal()}` };
    this.#token ??= await this.#fetchToken(access);
    return { authorization: `Bearer ${this.#token.reveal()}` };
  }

  /** OAuth 2.0 client credentials. */
  async #fetchToken(access: CatalogPlace['access'] & { readonly kind: 'credential' }): Promise<Secret> {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(access.clientId === '' ? {} : { client_id: access.clientId }),
      ...{ client_secret: access.secret.reveal(), scope: access.scope },
    });
    const answer = await this.#exchange(access.server, { method: 'POST', expected: [] }, {}, form);
    if (answer.status >= 300) throw this.#refusal(answer);
    return new Secret(this.#parse(tokenSchema, answer.body, 'token').access_token);
  }

  async #exchange(
    url: string,
    { method, body }: CatalogRequest,
    authorization: Readonly<Record<string, string>>,
    form?: URLSearchParams,
  ): Promise<CatalogAnswer> {
    const { EnvHttpProxyAgent, fetch } = await import('undici');
    this.#dispatcher ??= new EnvHttpProxyAgent();
    const dispatcher = this.#dispatcher;
    const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
    try {
      const answer = await fetch(url, {
        ...{ method, dispatcher, redirect: 'error', signal: AbortSignal.timeout(REQUEST_MS) },
        headers: {
          ...authorization,
          accept: 'application/json',
          ...(method === 'POST' ? { 'content-type': type } : {}),
        },
        ...(method === 'POST' ? { body: form === undefined ? JSON.stringify(body ?? {}) : form.toString() } : {}),
      });
      this.#compareClocks(answer.headers.get('date'));
      return { status: answer.status, body: parseJson(await answer.text()) };
    } catch (error) {
      const { cause } = error as { readonly cause?: unknown };
      throw this.#failure(`no answer (${this.#quote((cause as Error | undefined)?.message ?? String(error))})`, {
        ...{ code: 'catalog-failed', retryable: true },
        hint: 'run the same command again; tables show what was published before',
      });
    }
  }

  #compareClocks(date: string | null): void {
    const ahead = date === null ? Number.NaN : Date.parse(date) - this.#effects.now();
    if (!Number.isNaN(ahead)) this.#clockAheadMs = Math.abs(ahead) < LEAST_SKEW_MS ? 0 : ahead;
  }

  async close(): Promise<void> {
    await this.#dispatcher?.close();
  }

  /** An answer that is a failure. */
  #refusal({ status, body }: CatalogAnswer): StoreError {
    const told = errorSchema.safeParse(body).data?.error;
    const said = told === undefined ? '' : ` (${this.#quote(`${told.type ?? ''} ${told.message}`)})`;
    if (status === 401 || status === 403 || status === 419)
      return this.#failure(`${status}${said}`, {
        code: 'denied',
        hint: 'set PYICEBERG_CATALOG__DEFAULT__TOKEN, or PYICEBERG_CATALOG__DEFAULT__CREDENTIAL=id:secret',
      });
    if (status === 429 || status >= 500)
      return this.#failure(`${status}${said}`, {
        ...{ code: 'catalog-failed', retryable: true },
        hint: 'run the same command again; tables show what was published before',
      });
    const hint = 'check --catalog, --namespace and --catalog-warehouse';
    return this.#failure(`${status}${said}`, { code: 'catalog-refused', hint });
  }

  #failure(what: string, options: ConstructorParameters<typeof StoreError>[1]): StoreError {
    const error = new StoreError(`store: catalog ${this.#place.uri}: ${what}`, options);
    for (const secret of this.#secrets()) scrubError(error, secret);
    return error;
  }

  #quote(text: string): string {
    return quoteText(oneLine(text), (line) => this.#secrets().reduce((clean, secret) => secret.redact(clean), line));
  }

  #secrets(): readonly Secret[] {
    const { access } = this.#place;
    if (access.kind === 'none') return [];
    return access.kind === 'token'
      ? [access.token]
      : [access.secret, ...(this.#token === undefined ? [] : [this.#token])];
  }

  #parse<T>(schema: z.ZodType<T>, body: unknown, what: string): T {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    throw this.#failure(`expected ${what}, got something else`, {
      code: 'catalog-refused',
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
