import { readFileSync } from 'node:fs';
import type { Endpoint } from '../../src/api/endpoint.ts';

/** Invented where no answer was recorded. */
const INVENTED: Readonly<Record<string, string>> = {
  '/decode': '{"opcodes":["jetton_transfer"],"bodies":[{"@type":"text_comment","text":"hi"}]}',
  '/message': '{"message_hash":"aa","message_hash_norm":"bb"}',
  '/nft/sales': '{"nft_sales":[],"address_book":{},"metadata":{}}',
};

/** A recorded answer of an endpoint; that of /transactions where the rows are the same. */
export function recordedAnswer({ path }: Endpoint): string {
  const same = path === '/transactionsByMasterchainBlock' ? '/transactions' : path;
  const file = `../golden/client/${same.slice(1).replaceAll('/', '-')}.json`;
  return INVENTED[path] ?? readFileSync(new URL(file, import.meta.url), 'utf8');
}

export const ACCOUNT = '0:62056B0298CA16D840F7FB8ED420017589493426C8981EE76C0CA13454B15E78';
export const OTHER = `-1:${'5'.repeat(64)}`;
/** `ACCOUNT` in its user-friendly form. */
export const FRIENDLY = 'EQBiBWsCmMoW2ED3-47UIAF1iUk0JsiYHudsDKE0VLFeeKsi';
export const HASH = 'fpvnKAZaV3KXtTyAOyWkCGx0cfuSLgJFjA6sVENGgA8=';
export const HEX_HASH = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';
