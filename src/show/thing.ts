import { base64Hash, rawAddress } from '../core/address.ts';
import { usage } from '../core/errors.ts';
import type { Thing } from './shown-thing.ts';

/** An address in any form, a hash as hex, base64 or base64url, or the seqno of a masterchain block; undefined for any other text. */
export function parseThing(text: string): Thing | undefined {
  const word = text.trim();
  const address = rawAddress(word);
  if (address !== undefined) return { kind: 'address', value: address };
  const hash = base64Hash(word);
  if (hash !== undefined) return { kind: 'hash', value: hash };
  const digits = word.replaceAll(/[_,](?=\d{3}\b)/g, '');
  return /^\d{1,10}$/.test(digits) ? { kind: 'block', value: digits } : undefined;
}

/** As `parseThing`. @throws {UsageError} `bad-request` for any other text */
export function requireThing(text: string): Thing {
  const thing = parseThing(text);
  if (thing !== undefined) return thing;
  throw usage(
    'an address, a hash or the seqno of a block',
    undefined,
    'addresses raw or user-friendly, hashes hex or base64',
    { code: 'bad-request' },
  );
}
