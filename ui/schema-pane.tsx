import { useState } from 'preact/hooks';
import type { TableDetail, TableItem } from '../src/ui/ui-types.ts';
import { Failed } from './notes.tsx';
import { useRequest } from './use-request.ts';

/** From this width on, the pane is open beside the editor. */
const WIDE = '(min-width: 1100px)';

/** Tables that have rows, and their columns with types and units. */
export function SchemaPane() {
  const { value: tables = [], error } = useRequest<readonly TableItem[]>('/api/tables');
  return (
    <details class="schema" open={matchMedia(WIDE).matches}>
      <summary>Tables and columns</summary>
      {error !== undefined && <Failed error={error} />}
      {tables
        .filter(({ rows }) => rows !== null)
        .map(({ name, doc }) => (
          <SchemaTable key={name} name={name} doc={doc} />
        ))}
    </details>
  );
}

function SchemaTable({ name, doc }: { readonly name: string; readonly doc: string }) {
  const [isOpen, setOpen] = useState(false);
  const { value: table, error } = useRequest<TableDetail>(
    isOpen ? `/api/tables/${encodeURIComponent(name)}` : undefined,
  );
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary title={doc}>{name}</summary>
      {error !== undefined && <Failed error={error} />}
      <ul>
        {table?.columns.map((column) => (
          <li key={column.name} title={column.doc}>
            {column.name} <span class="soft">{column.type.toLowerCase()}</span>
            {column.unit !== null && <span class="tag">{column.unit}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}
