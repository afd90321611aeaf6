import type { Context } from 'hono';
import { pageScriptSource } from '../reports/html/page-script.ts';
import type { UiEnvironment } from './ui-options.ts';

/** A report is shown in a frame with an opaque origin: it can reach neither the page nor the server, and runs only the script of reports. */
const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src ${pageScriptSource}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
].join('; ');

/** Sends the page of a report. */
export function sendReport(c: Context<UiEnvironment>, page: string): Response {
  c.header('Content-Security-Policy', POLICY);
  c.header('X-Frame-Options', 'SAMEORIGIN');
  // With this header, browsers refuse to open a sandboxed page in its own tab.
  c.header('Cross-Origin-Opener-Policy', undefined);
  return c.html(page) as Response;
}
