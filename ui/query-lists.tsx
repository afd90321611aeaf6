import { useState } from 'preact/hooks';
import type { SavedQuery } from '../src/ui/ui-types.ts';
import { useRequest } from './use-request.ts';

/** A query that was run, or can be. */
export interface PastQuery {
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
}

const STORED = 'tonlake-queries';
const MAX_QUERIES = 50;

/** Queries of this browser, newest first. */
function pastQueries(): readonly PastQuery[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    return Array.isArray(stored) ? stored.filter((each) => typeof each?.sql === 'string') : [];
  } catch {
    return [];
  }
}

export function rememberQuery(query: PastQuery): void {
  const others = pastQueries().filter(({ sql }) => sql !== query.sql);
  try {
    localStorage.setItem(STORED, JSON.stringify([query, ...others].slice(0, MAX_QUERIES)));
  } catch {
    // A browser without storage has no history.
  }
}

interface QueryListsProps {
  /** Changes when a query was saved. */
  readonly version: number;
  readonly onPick: (query: PastQuery) => void;
}

/** Queries that were run here, and those of the project. */
export function QueryLists({ version, onPick }: QueryListsProps) {
  const [open, setOpen] = useState<'history' | 'saved'>();
  const { value: saved } = useRequest<readonly SavedQuery[]>('/api/saved', { version });
  const listed: readonly (PastQuery & { readonly name?: string })[] =
    open === 'saved'
      ? (saved ?? []).map((query) => ({ ...query, params: {} }))
      : open === 'history'
        ? pastQueries()
        : [];
  const pick = (query: PastQuery): void => {
    setOpen(undefined);
    onPick(query);
  };
  const toggle = (list: 'history' | 'saved') => () => setOpen(open === list ? undefined : list);
  return (
    <div class="lists" onKeyDown={(event) => event.key === 'Escape' && setOpen(undefined)}>
      {saved !== undefined && saved.length > 0 && (
        <button type="button" aria-expanded={open === 'saved'} onClick={toggle('saved')}>
          Saved
        </button>
      )}
      <button type="button" aria-expanded={open === 'history'} onClick={toggle('history')}>
        History
      </button>
      {open !== undefined && (
        <ul class="popover">
          {listed.map(({ name, ...query }) => (
            <li key={name ?? query.sql}>
              <button type="button" onClick={() => pick(query)}>
                {name !== undefined && <b>{name} </b>}
                <code>{oneLine(query.sql)}</code>
              </button>
            </li>
          ))}
          {open === 'history' && listed.length === 0 && <li class="soft">Nothing was run in this browser yet.</li>}
        </ul>
      )}
    </div>
  );
}

function oneLine(sql: string): string {
  const text = sql.replace(/\s+/g, ' ').trim();
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}
