import { type Command, Option } from 'commander';
import type { Given } from '../../api/client/build-request.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { usage } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import { suggest } from '../../core/suggest.ts';
import { formatOf } from '../../files/output-format.ts';
import type { SourceRequest } from '../../http/request.ts';
import { runOptions } from '../../jobs/step-options.ts';
import { RELATION_FORMATS, type RelationFormat } from '../../sql/relation-writer.ts';
import { networkOf, networkOption, optionOf, parseNonNegative } from '../common-options.ts';
import { type Context, type ContextFlags, inContext } from '../context.ts';
import { otherOptions, refuseOthersWith, refuseWithout } from '../option-conflicts.ts';

interface ApiFlags extends ContextFlags {
  readonly format?: RelationFormat;
  readonly output?: string;
  readonly rps?: number | 'auto';
  readonly wait: number;
  readonly post?: boolean;
  readonly parameters?: boolean;
  readonly yesSend?: boolean;
}

const HELP = `
Without an endpoint, the command lists all endpoints. Unknown parameters are rejected, because the server would ignore them and
return the unfiltered list. Repeat the key for lists; fields of a POST can be JSON. The format follows from the extension of --output:
.json, .jsonl or .ndjson, .csv, .parquet. --format must not contradict it.

Examples:
  tonlake api
  tonlake api jetton/transfers --parameters
  tonlake api jetton/masters limit=5
  tonlake api accountStates address=0:AB... address=0:CD... --format csv
  tonlake api blocks mc_seqno=100 limit=1000 --output blocks.parquet --network sandbox
  tonlake api runGetMethod address=EQ... method=get_wallet_data stack='[]'`;

/** `tonlake api`: calls an endpoint once. */
export function addApi(program: Command): void {
  program
    .command('api')
    .description('call an API endpoint and print the response')
    .argument('[endpoint]', 'path without the leading slash: jetton/masters')
    .argument('[parameter...]', 'key=value; repeat the key for lists')
    .addOption(networkOption())
    .addOption(
      new Option(
        '--format <format>',
        'json: the response as received; jsonl: its rows as JSON lines; csv, parquet: its rows as a table (default: from the extension of --output, or json)',
      ).choices(RELATION_FORMATS),
    )
    .option('-o, --output <path>', 'write to a file, atomically')
    .addOption(optionOf('--rps <n>', runOptions.rps))
    .option('--wait <seconds>', 'time to wait for a block that is not indexed yet', parseNonNegative, 0)
    .option('--parameters', 'list the parameters of the endpoint')
    .option('--post', 'send decode as POST, for requests too long for a URL')
    .option('--yes-send', 'allow message to send to the network')
    .addHelpText('after', HELP)
    .action(inContext(callApi));
}

async function callApi(context: Context<ApiFlags>, path: string | undefined, words: readonly string[]): Promise<void> {
  const { flags, write } = context;
  const { endpointByPath, endpointOf } = await import('../../api/endpoints.ts');
  const { describeEndpoint, listEndpoints } = await import('../../api/client/describe-endpoint.ts');
  if (path === undefined) {
    refuseWithout(context, 'an endpoint', otherOptions(context, []), () => `${suggest('api')} lists them`);
    return write(listEndpoints());
  }
  const endpoint = endpointOf(endpointByPath(path, flags.post === true ? 'POST' : undefined));
  if (flags.parameters === true) {
    refuseOthersWith(context, 'parameters', ['post'], { words });
    return write(describeEndpoint(endpoint));
  }
  if (endpoint.sends !== true) refuseWithout(context, 'message', ['yesSend'], (flag) => `remove ${flag}`);
  const { planRequest } = await import('../../api/client/build-request.ts');
  const request = planRequest(endpoint, parseWords(endpoint, words));
  const { requireSoundAddress } = await import('../../core/address.ts');
  for (const word of words) requireSoundAddress(word.slice(word.indexOf('=') + 1), networkOf(flags));
  const format = formatOf({ output: flags.output, format: flags.format, formats: RELATION_FORMATS }) ?? 'json';
  checkFlags(endpoint, flags, format);
  const body = await fetchOnce(context, endpoint, request);
  await writeResponse(context, endpoint, body, format);
}

async function fetchOnce(
  { flags, printRetry }: Context<ApiFlags>,
  endpoint: Endpoint,
  request: SourceRequest,
): Promise<Buffer> {
  const [{ openApi }, { parseSent }] = await Promise.all([
    import('../../api/client/open-api.ts'),
    import('../../api/client/exact-json.ts'),
  ]);
  const api = await openApi({
    network: networkOf(flags),
    rps: flags.rps,
    waitMs: flags.wait * 1000,
    onRetry: printRetry,
  });
  try {
    return await api.source.fetch(
      request,
      (response) => {
        // Parsed inside the retry loop, so that a truncated response is requested again.
        parseSent(response.body, endpoint.path.slice(1));
        return response.body;
      },
      endpoint.sends === true ? { attempts: 1 } : {},
    );
  } finally {
    await api.close();
  }
}

async function writeResponse(
  { flags: { output }, line, write }: Context<ApiFlags>,
  endpoint: Endpoint,
  body: Buffer,
  format: RelationFormat,
): Promise<void> {
  if (format === 'parquet') {
    const { writeParquet } = await import('../../api/client/response-parquet.ts');
    const rows = await writeParquet(endpoint, body, output ?? '');
    return line.print(`${counted(rows, 'row')} in ${output}`);
  }
  const { formatAnswer } = await import('../../api/client/format-answer.ts');
  const text = formatAnswer(endpoint, body, format, output === undefined && process.stdout.isTTY === true);
  if (output === undefined) return write(text);
  const { writeTextAtomically } = await import('../../files/atomic-write.ts');
  await writeTextAtomically(output, text);
}

function checkFlags(endpoint: Endpoint, flags: ApiFlags, format: RelationFormat): void {
  if (endpoint.sends === true && flags.yesSend !== true) {
    throw usage('--yes-send: sending to the network cannot be undone', undefined, 'add --yes-send to send it', {
      of: 'message',
    });
  }
  if (format === 'parquet' && flags.output === undefined) {
    throw usage('--output with --format parquet', undefined, '--output rows.parquet');
  }
}

/** Arguments such as `key=value` as values by name; a repeated name is a list. */
export function parseWords(endpoint: Endpoint, words: readonly string[]): Given {
  const given = new Map<string, unknown>();
  for (const word of words) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name === undefined || text === undefined) {
      throw usage('key=value', JSON.stringify(word), suggest('api', `${endpoint.path.slice(1)} --parameters`), {
        code: 'bad-parameter',
      });
    }
    const value = readWord(endpoint, name, text);
    const before = given.get(name);
    if (!given.has(name)) given.set(name, value);
    else given.set(name, [...(Array.isArray(before) ? before : [before]), ...(Array.isArray(value) ? value : [value])]);
  }
  return Object.fromEntries(given);
}

/** JSON if the field of a POST is a stack or a list, else text. */
function readWord(endpoint: Endpoint, name: string, text: string): unknown {
  const parameter = Object.hasOwn(endpoint.parameters, name) ? endpoint.parameters[name] : undefined;
  if (endpoint.method !== 'POST' || parameter === undefined || !text.trimStart().startsWith('[')) return text;
  if (!parameter.many && parameter.kind !== 'stack') return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usage(`JSON for ${name}`, JSON.stringify(text.slice(0, 80)), undefined, { code: 'bad-parameter', cause });
  }
}
