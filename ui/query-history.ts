/** A query that was run, or can be. */
export interface PastQuery {
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
}

const KEY = 'tonlake-queries';
const MAX_QUERIES = 50;

/** Queries of this browser, newest first. */
export function pastQueries(): readonly PastQuery[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(found) ? found.filter((each) => typeof each?.sql === 'string') : [];
  } catch {
    return [];
  }
}

export function rememberQuery(query: PastQuery): void {
  const others = pastQueries().filter(({ sql }) => sql !== query.sql);
  try {
    localStorage.setItem(KEY, JSON.stringify([query, ...others].slice(0, MAX_QUERIES)));
  } catch {
    // A browser without storage has no history.
  }
}
