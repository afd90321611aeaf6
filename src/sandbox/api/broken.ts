import type { BrokenRecord } from '../faults.ts';

/** The text of a record with one field wrong, so that no decoder can take it. */
export function breakText(text: string, kind: BrokenRecord['kind']): string {
  switch (kind) {
    case 'lt':
      return text.replace(/"lt":"\d+"/, '"lt":"12x"');
    case 'now':
      return text.replace(/"now":(\d+)/, '"now":"$1"');
    case 'overflow':
      return text.replace(/"total_fees":"\d+"/, '"total_fees":"9223372036854775808"');
    case 'root_hash':
      return text.replace(/"root_hash":"[^"]+"/, '"root_hash":"12x"');
  }
}

/** Whether a kind of fault is one of headers, and not of transactions. */
export function isOfHeader({ kind }: BrokenRecord): boolean {
  return kind === 'root_hash';
}
