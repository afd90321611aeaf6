import type { SandboxAnswer, SandboxRequest } from '../../src/sandbox/index.ts';

/** Gives the true answer to a GET. */
export type Ask = (target: string) => SandboxAnswer;

/** A list, or a map, in the text of an answer. */
export interface ListText {
  readonly before: string;
  readonly records: readonly string[];
  readonly after: string;
}

const PAGE = 1000;
/** More records than faults add to a list or take from it. */
const SLACK = 300;

/** Where the text ends that begins at a quotation mark. */
function endOfText(body: string, start: number): number {
  for (let end = start; ; ) {
    end = body.indexOf('"', end + 1);
    let slashes = 0;
    while (body[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
}

/** The records after an opening text, by default of the first list; undefined if there is none. */
export function listIn(body: string, opening = '['): ListText | undefined {
  const found = body.indexOf(opening);
  if (found < 0) return undefined;
  const start = found + opening.length;
  const cuts: number[] = [start - 1];
  let [depth, at] = [0, start];
  for (; depth >= 0 && at < body.length; at++) {
    const char = body[at];
    if (char === '"') at = endOfText(body, at);
    else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    else if (char === ',' && depth === 0) cuts.push(at);
  }
  const end = at - 1;
  const records = cuts.map((cut, i) => body.slice(cut + 1, cuts[i + 1] ?? end)).filter((record) => record !== '');
  return { before: body.slice(0, start), records, after: body.slice(end) };
}

export function textOf({ body }: SandboxAnswer): string {
  return body.toString();
}

export function joined({ before, records, after }: ListText): string {
  return before + records.join(',') + after;
}

/** The page that a request asks for. */
export function pageOf({ query }: SandboxRequest): { readonly from: number; readonly to: number } {
  const from = Number(query.get('offset') ?? 0);
  return { from, to: from + Number(query.get('limit') ?? 100) };
}

/** The first records of the list of which a request asks for a page, up to some that follow the page. */
export function recordsUpTo(request: SandboxRequest, ask: Ask): readonly string[] {
  const records: string[] = [];
  while (records.length < pageOf(request).to + SLACK) {
    const query = new URLSearchParams(request.query);
    query.set('limit', String(PAGE));
    query.set('offset', String(records.length));
    const page = listIn(textOf(ask(`${request.path}?${query}`)))?.records ?? [];
    records.push(...page);
    if (page.length < PAGE) break;
  }
  return records;
}

/** All transactions of a masterchain block, by lt and account. */
export function transactionsIn(ask: Ask, seqno: number): readonly string[] {
  const records: string[] = [];
  for (;;) {
    const target = `/transactionsByMasterchainBlock?seqno=${seqno}&limit=${PAGE}&sort=asc&offset=${records.length}`;
    const page = listIn(textOf(ask(target)))?.records ?? [];
    records.push(...page);
    if (page.length < PAGE) return records;
  }
}

/** An answer with another list under a key. */
export function withRows<Row>(
  answer: { readonly status: number; readonly body: string },
  key: string,
  change: (rows: readonly Row[]) => readonly Row[],
): { readonly status: number; readonly body: string } {
  const parsed: Record<string, readonly Row[] | undefined> = JSON.parse(answer.body);
  const rows = parsed[key];
  return rows === undefined ? answer : { ...answer, body: JSON.stringify({ ...parsed, [key]: change(rows) }) };
}
