import { homedir } from 'node:os';
import { join } from 'node:path';

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Folder for the state of this machine: TONLAKE_STATE_DIR, else below XDG_STATE_HOME or ~/.local/state. */
export function stateDirectory(env: Environment): string {
  const own = env['TONLAKE_STATE_DIR'];
  if (own !== undefined && own !== '') return own;
  const xdg = env['XDG_STATE_HOME'];
  if (xdg !== undefined && xdg !== '') return join(xdg, 'tonlake');
  return join(env['HOME'] || homedir(), '.local', 'state', 'tonlake');
}
