import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { UiEnvironment } from './ui-options.ts';

/** Who may talk to the server: a tab that opened its first address, on this machine. */
export interface Access {
  /** Part of the first address; for one use. */
  readonly key: string;
  /** Lets a request pass, or answers it. */
  readonly guard: MiddlewareHandler<UiEnvironment>;
}

const HELP =
  'This tab has no key. The address that tonlake ui printed opens one tab, which keeps its key until it is closed: ' +
  'go on there, or start tonlake ui again for a new address.\n';

/** Where a tab gets its session for the key of the first address. */
const ENTRY = '/api/entry';

/** Frames and downloads send no header: the random id in their address lets them pass. */
const BY_ID = /^\/api\/(reports\/pages\/[0-9a-f-]{36}|results\/[0-9a-f-]{36}\/download)$/;

/**
 * Guards a server on a port of loopback. The key of the first address, which other users may see in the list of processes, is for one
 * use: a tab gets a session for it, which it sends as a header. There is no cookie, which a browser would send to each port of this
 * machine. The files of the page are for everybody, as they say nothing. The host and origin of each request must be ours, so that no
 * name that was rebound to this machine gets an answer.
 */
export function guardAccess(port: () => number): Access {
  const key = randomBytes(24).toString('base64url');
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
    const given = c.req.header('authorization') ?? '';
    if (c.req.path === ENTRY && c.req.method === 'POST') {
      if (isSpent || !isSame(given, `Bearer ${key}`)) return c.text(HELP, 401);
      isSpent = true;
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
