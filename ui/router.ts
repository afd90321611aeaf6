import { useEffect, useState } from 'preact/hooks';

/** Navigates to another page of tonlake ui. */
export function navigate(path: string): void {
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** The path of the page that is shown. Clicks on links to our pages change it without loading. */
export function usePath(): string {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const follow = (): void => setPath(location.pathname);
    const click = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
      if (link === null || !isPlain || link.origin !== location.origin || link.target !== '') return;
      if (link.hasAttribute('download') || link.pathname.startsWith('/api/')) return;
      event.preventDefault();
      navigate(link.href);
    };
    addEventListener('popstate', follow);
    document.addEventListener('click', click);
    return () => {
      removeEventListener('popstate', follow);
      document.removeEventListener('click', click);
    };
  }, []);
  return path;
}

/** The address of the page about a value. */
export function exploreLink(value: string): string {
  return `/explore/${encodeURIComponent(value)}`;
}

/** An address or hash as tables store them, or a user-friendly address. */
const EXPLORED = /^(-?\d+:[0-9A-F]{64}|[A-Za-z0-9+/]{43}=|[EUk0][Qf][\w-]{46})$/;

/** Columns of masterchain blocks. */
const BLOCK_COLUMNS = /^(mc_block_seqno|mc_seqno|at_block)$/;

/** True if a value has a page: an address, a hash or a masterchain block. */
export function isExplored(value: string, column = ''): boolean {
  return EXPLORED.test(value) || (BLOCK_COLUMNS.test(column) && /^\d+$/.test(value));
}

/** The address of a query. What is after `#` never leaves the browser. */
export function queryLink(sql: string, params: Readonly<Record<string, string>> = {}): string {
  const parts = new URLSearchParams({
    sql,
    ...Object.fromEntries(Object.entries(params).map(([k, v]) => [`$${k}`, v])),
  });
  return `/query#${parts}`;
}

/** The query of an address. */
export function linkedQuery(hash: string): { readonly sql: string; readonly params: Readonly<Record<string, string>> } {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const params = [...parts].filter(([name]) => name.startsWith('$')).map(([name, value]) => [name.slice(1), value]);
  return { sql: parts.get('sql') ?? '', params: Object.fromEntries(params) };
}
