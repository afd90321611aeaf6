import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterFile } from '../scratch.ts';
import openapi from './rest-catalog-schemas.json' with { type: 'json' };

type Json = Record<string, unknown>;

/** `pass`: as it should. `lose`: it is done, but the answer is lost. A number: the status of an answer, without doing anything. */
export type CatalogFault = 'pass' | 'lose' | number;

export interface CatalogRequestSeen {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/** An Iceberg REST catalog in memory, written from the specification. It refuses what the specification's own schemas refuse. */
export interface RestServer {
  readonly url: string;
  readonly requests: CatalogRequestSeen[];
  /** Metadata of tables by `namespace.table`. */
  readonly tables: Map<string, Json>;
  fault: ((seen: CatalogRequestSeen) => CatalogFault | Promise<CatalogFault>) | undefined;
  /** Tokens that are accepted; undefined for any, and none. */
  tokens: Set<string> | undefined;
  config: Json;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'rest', components: openapi });
const validators = new Map<string, ValidateFunction>();

function problemsOf(name: string, value: unknown): readonly string[] {
  const known = validators.get(name) ?? ajv.compile({ $ref: `rest#/components/schemas/${name}` });
  validators.set(name, known);
  return known(value)
    ? []
    : (known.errors ?? []).map(({ instancePath, message }) => `${name}${instancePath} ${message}`);
}

/** Problems of a commit: of the whole, and of each part by the schema that its kind selects. */
function problemsOfCommit(body: Json): readonly string[] {
  const parts = (key: 'requirements' | 'updates', base: 'TableRequirement' | 'BaseUpdate') => {
    const { propertyName, mapping } = openapi.schemas[base].discriminator;
    return ((body[key] ?? []) as Json[]).flatMap((part) => {
      const reference = (mapping as Record<string, string>)[String(part[propertyName])];
      return reference === undefined
        ? [`unknown ${String(part[propertyName])}`]
        : problemsOf(reference.split('/').at(-1) ?? '', part);
    });
  };
  return [
    ...problemsOf('CommitTableRequest', body),
    ...parts('requirements', 'TableRequirement'),
    ...parts('updates', 'BaseUpdate'),
  ];
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Starts one that ends with the file's tests. */
export async function startRestServer(): Promise<RestServer> {
  const namespaces = new Set<string>();
  const requests: CatalogRequestSeen[] = [];
  const httpServer = createServer(async (request, response) => {
    const text = await textOf(request);
    const path = request.url ?? '';
    const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
    const body = text === '' ? undefined : isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);
    const seen = { method: request.method ?? '', path, authorization: request.headers.authorization, body };
    requests.push(seen);
    const fault = (await own.fault?.(seen)) ?? 'pass';
    const answer = typeof fault === 'number' ? failure(new Refusal(fault, 'told to fail')) : answerTo(seen);
    if (fault === 'lose') return void request.socket.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  const answerTo = (seen: CatalogRequestSeen): { readonly status: number; readonly body: unknown } => {
    try {
      return { status: 200, body: act(seen) };
    } catch (error) {
      return failure(error as Error);
    }
  };
  const act = ({ method, path, authorization, body }: CatalogRequestSeen): unknown => {
    const sent = body as Json;
    const require = (problems: readonly string[]): void => {
      if (problems.length > 0) throw new Refusal(400, problems.join('; '));
    };
    if (path === '/v1/oauth/tokens') {
      require(problemsOf('OAuthTokenRequest', sent));
      if (sent['client_secret'] !== 'sesame') throw new Refusal(401, `who is ${String(sent['client_secret'])}`);
      const token = `token-${requests.length}`;
      own.tokens?.add(token);
      return { access_token: token, token_type: 'bearer', expires_in: 3600 };
    }
    if (own.tokens !== undefined && !own.tokens.has(authorization?.replace('Bearer ', '') ?? ''))
      throw new Refusal(401, `not accepted: ${authorization}`);
    if (path.startsWith('/v1/config')) return own.config;
    const [, prefix = '', namespace, table] =
      /^\/v1\/((?:[^/]+\/)*?)namespaces(?:\/([^/]+)(?:\/tables(?:\/([^/]+))?)?)?$/.exec(path) ?? [];
    const expected = (own.config['overrides'] as Json)['prefix'];
    if (prefix !== (expected === undefined ? '' : `${String(expected)}/`)) throw new Refusal(404, `no route ${path}`);
    if (namespace === undefined) {
      require(problemsOf('CreateNamespaceRequest', sent));
      const name = (sent['namespace'] as string[]).join('%1F');
      if (namespaces.has(name)) throw new Refusal(409, 'namespace exists');
      namespaces.add(name);
      return sent;
    }
    const name = `${namespace}.${table ?? String(sent?.['name'])}`;
    const held = own.tables.get(name);
    if (method === 'GET') {
      if (held === undefined) throw new Refusal(404, 'no such table');
      return { 'metadata-location': `${String(held['location'])}/metadata/1.json`, metadata: held };
    }
    if (!namespaces.has(namespace)) throw new Refusal(404, 'no such namespace');
    if (table === undefined) {
      require(problemsOf('CreateTableRequest', sent));
      if (held !== undefined) throw new Refusal(409, 'table exists');
      return { metadata: { location: sent['location'] } };
    }
    require(problemsOfCommit(sent));
    const next = committed(held, sent);
    own.tables.set(name, next);
    return { 'metadata-location': 'x', metadata: next };
  };
  await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve));
  afterFile(() => httpServer.close());
  // A TCP server has an address with a port.
  const { port } = httpServer.address() as AddressInfo;
  const own: RestServer = {
    ...{ url: `http://127.0.0.1:${port}`, requests, tables: new Map(), fault: undefined, tokens: undefined },
    config: { defaults: {}, overrides: {} },
  };
  return own;
}

function failure(error: Error): { readonly status: number; readonly body: unknown } {
  const status = error instanceof Refusal ? error.status : 500;
  return { status, body: { error: { message: error.message, type: 'TestException', code: status } } };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The table after a commit. @throws {Refusal} 409 if a requirement is not met, 400 for what makes no sense */
function committed(held: Json | undefined, body: Json): Json {
  for (const requirement of body['requirements'] as Json[]) requireMet(held, requirement);
  const table = structuredClone(held ?? empty());
  for (const update of body['updates'] as Json[]) apply(table, update);
  const ids = new Set((table['snapshots'] as Json[]).map((one) => one['snapshot-id']));
  for (const [name, ref] of Object.entries(table['refs'] as Record<string, Json>))
    if (!ids.has(ref['snapshot-id'])) throw new Refusal(400, `${name} names a snapshot that is not there`);
  return table;
}

const empty = (): Json => ({
  ...{ 'last-sequence-number': 0, 'last-updated-ms': 0, 'last-column-id': 0, schemas: [], 'partition-specs': [] },
  ...{ 'sort-orders': [], properties: {}, refs: {}, snapshots: [] },
});

function requireMet(held: Json | undefined, requirement: Json): void {
  const refs = (held?.['refs'] ?? {}) as Record<string, Json>;
  const facts: Record<string, readonly [unknown, unknown]> = {
    'assert-create': [held, undefined],
    'assert-table-uuid': [held?.['table-uuid'], requirement['uuid']],
    'assert-ref-snapshot-id': [refs[String(requirement['ref'])]?.['snapshot-id'] ?? null, requirement['snapshot-id']],
    'assert-last-assigned-field-id': [held?.['last-column-id'], requirement['last-assigned-field-id']],
    'assert-current-schema-id': [held?.['current-schema-id'], requirement['current-schema-id']],
    'assert-default-spec-id': [held?.['default-spec-id'], requirement['default-spec-id']],
  };
  const [is, wanted] = facts[String(requirement['type'])] ?? [0, 1];
  if (is !== wanted)
    throw new Refusal(409, `${String(requirement['type'])}: expected ${String(wanted)}, found ${String(is)}`);
}

function apply(table: Json, update: Json): void {
  const list = (key: string): Json[] => table[key] as Json[];
  const lastOf = (key: string, id: string, wanted: unknown): unknown =>
    wanted === -1 ? list(key).at(-1)?.[id] : wanted;
  const refs = table['refs'] as Record<string, Json>;
  const set = (fields: Json): void => void Object.assign(table, fields);
  const actions: Record<string, () => void> = {
    'assign-uuid': () => set({ 'table-uuid': update['uuid'] }),
    'upgrade-format-version': () => set({ 'format-version': update['format-version'] }),
    'add-schema': () => addSchema(table, update['schema'] as Json),
    'set-current-schema': () => set({ 'current-schema-id': lastOf('schemas', 'schema-id', update['schema-id']) }),
    'add-spec': () => void list('partition-specs').push(update['spec'] as Json),
    'set-default-spec': () => set({ 'default-spec-id': lastOf('partition-specs', 'spec-id', update['spec-id']) }),
    'add-sort-order': () => void list('sort-orders').push(update['sort-order'] as Json),
    'set-default-sort-order': () => set({ 'default-sort-order-id': 0 }),
    'set-location': () => set({ location: update['location'] }),
    'set-properties': () => set({ properties: { ...(table['properties'] as Json), ...(update['updates'] as Json) } }),
    'add-snapshot': () => addSnapshot(table, update['snapshot'] as Json),
    'set-snapshot-ref': () => {
      refs[String(update['ref-name'])] = { 'snapshot-id': update['snapshot-id'], type: update['type'] };
      if (update['ref-name'] === 'main') set({ 'current-snapshot-id': update['snapshot-id'] });
    },
    'remove-snapshot-ref': () => void delete refs[String(update['ref-name'])],
    'remove-snapshots': () => {
      const gone = update['snapshot-ids'] as unknown[];
      set({ snapshots: list('snapshots').filter((one) => !gone.includes(one['snapshot-id'])) });
    },
  };
  const action = actions[String(update['action'])];
  if (action === undefined) throw new Refusal(400, `unknown ${String(update['action'])}`);
  action();
}

function addSchema(table: Json, schema: Json): void {
  const schemas = table['schemas'] as Json[];
  if (schemas.some((one) => one['schema-id'] === schema['schema-id'])) throw new Refusal(400, 'schema exists');
  schemas.push(schema);
  const ids = (schema['fields'] as Json[]).map(({ id }) => Number(id));
  table['last-column-id'] = Math.max(...ids, Number(table['last-column-id']));
}

function addSnapshot(table: Json, snapshot: Json): void {
  const sequence = Number(snapshot['sequence-number']);
  if (sequence <= Number(table['last-sequence-number'])) throw new Refusal(400, 'sequence number is not new');
  const isKnown = (table['schemas'] as Json[]).some((one) => one['schema-id'] === snapshot['schema-id']);
  if (!isKnown) throw new Refusal(400, 'unknown schema');
  Object.assign(table, { 'last-sequence-number': sequence, 'last-updated-ms': snapshot['timestamp-ms'] });
  (table['snapshots'] as Json[]).push(snapshot);
}
