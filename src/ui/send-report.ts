import type { Context } from 'hono';
import { pageScriptSource } from '../reports/html/page-script.ts';
import type { UiEnvironment } from './ui-options.ts';

/**
 * A report is shown in a frame of an origin of its own: it reaches neither this page nor the server, and runs no script but that of
 * reports.
 */
const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src ${pageScriptSource}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
].join('; ');

/** Answers with the page of a report. */
export function sendReport(c: Context<UiEnvironment>, page: string): Response {
  c.header('Content-Security-Policy', POLICY);
  c.header('X-Frame-Options', 'SAMEORIGIN');
  // Browsers refuse to open a sandboxed page by itself with it.
  c.header('Cross-Origin-Opener-Policy', undefined);
  return c.html(page) as Response;
}
