import { type Effects, realEffects } from '../../core/effects.ts';
import { openSession, type Session, type SessionOptions } from '../../http/session.ts';
import { createClient } from './client.ts';
import type { Client } from './client-types.ts';

export interface ApiOptions extends Omit<SessionOptions, 'effects' | 'priority' | 'names' | 'command'> {
  readonly effects?: Effects | undefined;
}

/** A network that is ready to be called. */
export interface Api extends Session {
  readonly client: Client;
}

/**
 * Opens a network for calls; answers come with their address book and metadata. For `sandbox` a server is started in this
 * process. No request is sent yet.
 *
 * @throws {UsageError} for an unknown network, or an unusable key or proxy
 */
export async function openApi(options: ApiOptions): Promise<Api> {
  const { effects = realEffects } = options;
  const session = await openSession({
    ...options,
    effects,
    priority: 'interactive',
    names: true,
    command: 'tonlake fetch',
  });
  return { ...session, client: createClient(session.source) };
}
