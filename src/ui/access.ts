import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { UiEnvironment } from './ui-options.ts';

/** Access control: only a tab on this machine that opened the first address. */
export interface Access {
  /** Part of the first address; valid once. */
  readonly key: string;
  /** Passes a request on, or refuses it. */
  readonly guard: MiddlewareHandler<UiEnvironment>;
}

const HELP =
  'This tab has no key. The address that tonlake ui printed opens one tab, which keeps its key until it is closed: ' +
  'go on there, or start tonlake ui again for a new address.\n';

/** Exchanges the key of the first address for a session. */
const ENTRY = '/api/entry';

/** Frames and downloads cannot send a header; the random id in their address authorizes them. */
const BY_ID = /^\/api\/(reports\/pages\/[0-9a-f-]{36}|results\/[0-9a-f-]{36}\/download)$/;

/**
 * Guards a server on a loopback port. The key of the first address is valid once, because other users may see it in the list of
 * processes: a tab exchanges it for a session, which it sends as a header. There is no cookie, because browsers send cookies to every
 * port of a host. The static files of the page need no session. The host and origin of each request must be those of the server, which
 * defeats DNS rebinding.
 */
export function guardAccess(port: () => number): Access {
  const key = randomBytes(24).toString('base64url');
  const session = randomBytes(24).toString('base64url');
  let isUsed = false;
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
    const given = c.req.header('authorization') ?? '';
    if (c.req.path === ENTRY && c.req.method === 'POST') {
      if (isUsed || !isSame(given, `Bearer ${key}`)) return c.text(HELP, 401);
      isUsed = true;
      return c.json({ session });
    }
    const isOpen = !c.req.path.startsWith('/api/') || (c.req.method === 'GET' && BY_ID.test(c.req.path));
    if (!isOpen && !isSame(given, `Bearer ${session}`)) return c.text(HELP, 401);
    return next();
  };
  return { key, guard };
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The script of the editor creates its styles, with the nonce. */
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
