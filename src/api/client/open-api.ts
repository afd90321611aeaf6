import { type Effects, realEffects } from '../../core/effects.ts';
import { openSession, type Session, type SessionOptions } from '../../http/session.ts';
import { createClient } from './client.ts';
import type { Client } from './client-types.ts';

export interface ApiOptions extends Omit<SessionOptions, 'effects' | 'priority' | 'names' | 'command' | 'witness'> {
  readonly effects?: Effects | undefined;
}

/** An open network with its client. */
export interface Api extends Omit<Session, 'renew'> {
  readonly client: Client;
}

/**
 * Opens a network for calls; responses include the address book and metadata. For `sandbox` it starts a server in this process. Sends
 * no request yet.
 *
 * @throws {UsageError} for an unknown network, or an invalid key or proxy
 */
export async function openApi(options: ApiOptions): Promise<Api> {
  const { effects = realEffects } = options;
  const session = await openSession({
    ...options,
    effects,
    priority: 'interactive',
    names: true,
    command: 'tonlake api',
  });
  return { ...session, client: createClient(session.source) };
}
