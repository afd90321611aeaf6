import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { UiEnvironment } from './ui-options.ts';

/** Who may talk to the server: a browser that opened its first address, on this machine. */
export interface Access {
  /** Part of the first address; for one use. */
  readonly token: string;
  /** Lets a request pass, or answers it. */
  readonly guard: MiddlewareHandler<UiEnvironment>;
}

const HELP =
  'This page belongs to tonlake ui. Open the address that it printed when it started: the key in it is for one use. ' +
  'Start tonlake ui again for a new one.\n';

/**
 * Guards a server on a port of loopback. The key of the first address, which other users may see in the list of processes, is for one
 * use: it becomes a cookie that scripts cannot read and that other sites cannot send. The host and origin of each request must be ours, so that no name that was rebound to this machine gets an answer.
 */
export function guardAccess(port: () => number): Access {
  const token = randomBytes(24).toString('base64url');
  const session = randomBytes(24).toString('base64url');
  let isSpent = false;
  const guard: MiddlewareHandler<UiEnvironment> = async (c, next) => {
    const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${port()}`);
    const host = c.req.header('host') ?? '';
    const nonce = randomBytes(16).toString('base64');
    c.set('nonce', nonce);
    for (const [name, value] of Object.entries(securityHeaders(nonce))) c.header(name, value);
    if (!hosts.includes(host)) return c.text('expected the address that tonlake ui printed\n', 403);
    const origin = c.req.header('origin');
    const site = c.req.header('sec-fetch-site');
    const isOwn =
      (origin === undefined || origin === `http://${host}`) &&
      (site === undefined || /^(same-origin|none)$/.test(site));
    if (!isOwn) return c.text('expected a request of this page\n', 403);
    if (!['GET', 'HEAD', 'POST'].includes(c.req.method)) return c.text('expected GET or POST\n', 405);
    // Forms of other pages cannot send JSON.
    if (c.req.method === 'POST' && c.req.header('content-type') !== 'application/json')
      return c.text('expected JSON\n', 415);
    // Cookies of a host are shared by its ports.
    const cookie = `tonlake_ui_${port()}`;
    const isKnown = isSame(getCookie(c, cookie) ?? '', session);
    const given = c.req.query('token');
    if (c.req.path === '/' && c.req.method === 'GET' && given !== undefined && isSame(given, token)) {
      // The browser that used the key may open its address again.
      if (isSpent && !isKnown) return c.text(HELP, 401);
      isSpent = true;
      setCookie(c, cookie, session, { httpOnly: true, sameSite: 'Strict', path: '/' });
      return c.redirect('/', 303);
    }
    if (!isKnown) return c.text(HELP, 401);
    return next();
  };
  return { token, guard };
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Styles of the editor are made by its script, which is told the nonce. */
function securityHeaders(nonce: string): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data:",
      "connect-src 'self'",
      "frame-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };
}
