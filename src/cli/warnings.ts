import { oneLine } from '../core/errors.ts';
import { pasteable } from './invocation.ts';

/** Shows tonlake's own warnings as one line each, without the process's number and advice for programmers; others as Node does. */
export function showWarnings(): void {
  const shown = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: Error & { readonly code?: unknown }) => {
    if (String(warning.code).startsWith('TONLAKE_'))
      process.stderr.write(`warning: ${pasteable(oneLine(warning.message))}\n`);
    else for (const show of shown) show(warning);
  });
}
