import { useState } from 'preact/hooks';
import { formatBytes, formatCount } from '../src/core/format.ts';
import type { TableItem } from '../src/ui/ui-types.ts';
import { Failed } from './notes.tsx';
import { TableView } from './table-view.tsx';
import { useRequest } from './use-request.ts';

/** All tables, views and marts, and one of them in full. */
export function TablesPage({ path }: { readonly path: string }) {
  const { value: tables, error } = useRequest<readonly TableItem[]>('/api/tables');
  const name = decodeURIComponent(/^\/tables\/([^/]+)/.exec(path)?.[1] ?? '');
  if (error !== undefined) return <Failed error={error} />;
  if (tables === undefined) return <p class="soft">Loading tables…</p>;
  return (
    <div class={`tables ${name === '' ? '' : 'has-table'}`}>
      <TableList tables={tables} current={name} />
      {name !== '' && <TableView key={name} name={name} />}
    </div>
  );
}

function TableList({ tables, current }: { readonly tables: readonly TableItem[]; readonly current: string }) {
  const [filter, setFilter] = useState('');
  const found = tables.filter(({ name, doc }) => `${name} ${doc}`.toLowerCase().includes(filter.trim().toLowerCase()));
  const groups = [
    { title: 'Tables', items: found.filter(({ kind, rows }) => kind === 'table' && rows !== null) },
    { title: 'Marts', items: found.filter(({ kind, rows }) => kind === 'mart' && rows !== null) },
    { title: 'Views', items: found.filter((item) => item.kind === 'view' && isFilled(tables, item)) },
  ];
  const absent = found.filter((item) => !isFilled(tables, item));
  return (
    <div class="table-list">
      <h1>Tables</h1>
      <input
        type="search"
        placeholder="Filter by name or meaning"
        aria-label="Filter tables"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      {found.length === 0 && <p class="soft">No table matches.</p>}
      {groups
        .filter(({ items }) => items.length > 0)
        .map(({ title, items }) => (
          <section key={title}>
            <h2>
              {title} <span class="soft">{items.length}</span>
            </h2>
            <Items items={items} current={current} />
          </section>
        ))}
      {absent.length > 0 && (
        <details open={filter !== '' || absent.some(({ name }) => name === current)}>
          <summary>
            Not exported yet <span class="soft">{absent.length}</span>
          </summary>
          <Items items={absent} current={current} />
        </details>
      )}
    </div>
  );
}

function Items({ items, current }: { readonly items: readonly TableItem[]; readonly current: string }) {
  return (
    <ul>
      {items.map(({ name, doc, rows, bytes }) => (
        <li key={name}>
          <a
            href={`/tables/${encodeURIComponent(name)}`}
            title={doc}
            aria-current={name === current ? 'page' : undefined}
          >
            <span class="name">{name}</span>
            {rows !== null && <span class="figure">{formatCount(rows)}</span>}
            {bytes !== null && <span class="figure size">{formatBytes(bytes)}</span>}
            <span class="doc">{doc}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A view has rows if its table has. */
function isFilled(tables: readonly TableItem[], { kind, of, rows }: TableItem): boolean {
  if (kind !== 'view') return rows !== null;
  return tables.some((table) => table.name === of && table.rows !== null);
}
