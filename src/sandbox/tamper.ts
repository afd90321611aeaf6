/** Adds undocumented fields to every block, transaction and message of a response. */
export function addExtraFields(body: string): string {
  const extra = '"suspended":false,"new_in_2027":{"a":[1,2]}';
  return body
    .replaceAll('"finality":"finalized"}', `"finality":"finalized",${extra}}`)
    .replaceAll('"message_content":{', `${extra},"message_content":{`)
    .replaceAll('"masterchain_block_ref":{', `${extra},"masterchain_block_ref":{`);
}

const SHORT: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Replaces escaped control characters with the characters themselves: the same text, but not strictly valid JSON. */
export function rawControls(body: string): string {
  return body.replace(/\\(?:u00([01][0-9a-f])|([\s\S]))/g, (whole, code: string | undefined, short: string) => {
    if (code === undefined) return SHORT[short] ?? whole;
    return code === '00' ? whole : String.fromCharCode(Number.parseInt(code, 16));
  });
}

/** A list of blocks or transactions that ends after `kept` records. */
export function shorten(body: string, key: 'blocks' | 'transactions', kept: number): string {
  const records = listIn(body).records.slice(0, kept);
  return `{"${key}":[${records.join(',')}]${key === 'blocks' ? '' : ',"address_book":{}'}}`;
}

/** Removes records from the list of a response, by their text and position. */
export function omit(body: string, isLeftOut: (record: string, place: number) => boolean): string {
  const { start, end, records } = listIn(body);
  const kept = records.filter((record, place) => !isLeftOut(record, place));
  return `${body.slice(0, start)}${kept.join(',')}${body.slice(end)}`;
}

/** The records of the first list in a response, and where the list starts and ends. */
function listIn(body: string): { readonly start: number; readonly end: number; readonly records: readonly string[] } {
  const start = body.indexOf('[') + 1;
  const records: string[] = [];
  let [depth, from, quoted, end] = [0, start, false, start];
  for (let at = start; at < body.length && depth >= 0; at += 1) {
    const char = body[at];
    if (quoted) {
      if (char === '\\') at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') {
      if (depth === 0) from = at;
      depth += 1;
    } else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) records.push(body.slice(from, at + 1));
      end = at;
    }
  }
  return { start, end, records };
}
