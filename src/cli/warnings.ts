import { oneLine } from '../core/errors.ts';

/** Prints warnings of tonlake in one line each, without the process id and advice of Node; other warnings as Node does. */
export function showWarnings(): void {
  const shown = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: Error & { readonly code?: unknown }) => {
    if (String(warning.code).startsWith('TONLAKE_')) process.stderr.write(`warning: ${oneLine(warning.message)}\n`);
    else for (const show of shown) show(warning);
  });
}
