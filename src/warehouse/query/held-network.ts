import { openReader } from '../open-store.ts';

/** The network of an existing warehouse; undefined if none is there, or it cannot be read: whoever opens it says why. */
export async function heldNetwork(path: string): Promise<string | undefined> {
  try {
    const reader = await openReader(path, []);
    await reader.close();
    return reader.network;
  } catch {
    return undefined;
  }
}
