/** Puts fields that nobody declared into every block, transaction and message of an answer. */
export function addExtraFields(body: string): string {
  const extra = '"suspended":false,"new_in_2027":{"a":[1,2]}';
  return body
    .replaceAll('"finality":"finalized"}', `"finality":"finalized",${extra}}`)
    .replaceAll('"message_content":{', `${extra},"message_content":{`)
    .replaceAll('"masterchain_block_ref":{', `${extra},"masterchain_block_ref":{`);
}

/** Writes escaped control characters as they are: no longer JSON in the strict sense, and the same text. */
export function rawControls(body: string): string {
  return body.replace(
    /\\(?:u00([01][0-9a-f])|([\s\S]))/g,
    (whole, code: string | undefined, short: string | undefined) => {
      if (code !== undefined && code !== '00') return String.fromCharCode(Number.parseInt(code, 16));
      return short === 'n' ? '\n' : short === 't' ? '\t' : short === 'r' ? '\r' : whole;
    },
  );
}

/** Leaves out the rows of a list from a certain one on. */
export function shorten(body: string, key: 'blocks' | 'transactions', kept: number): string {
  const start = body.indexOf('[') + 1;
  let depth = 0;
  let rows = 0;
  let end = start;
  let quoted = false;
  for (let at = start; at < body.length && rows < kept; at += 1) {
    const char = body[at];
    if (quoted) {
      if (char === '\\') at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) {
        rows += 1;
        end = at + 1;
      } else if (depth < 0) break;
    }
  }
  return `{"${key}":[${body.slice(start, end)}]${key === 'blocks' ? '' : ',"address_book":{}'}}`;
}

/** Leaves records of an answer's list out, by their place and text. */
export function omit(body: string, isLeftOut: (record: string, place: number) => boolean): string {
  const start = body.indexOf('[') + 1;
  const records: string[] = [];
  let [depth, from, quoted, end] = [0, start, false, start];
  for (let at = start; at < body.length; at += 1) {
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
      if (depth < 0) break;
    }
  }
  const kept = records.filter((record, place) => !isLeftOut(record, place));
  return `${body.slice(0, start)}${kept.join(',')}${body.slice(end)}`;
}
