import { Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { counted, formatBytes, formatCount } from '../src/core/format.ts';
import type { Cell, ResultColumn, TableColumn, TableDetail } from '../src/ui/ui-types.ts';
import { DataTable, Facts, Tabs } from './data-table.tsx';
import { Grid } from './grid.tsx';
import { Failed, Gaps } from './notes.tsx';
import { ProfileButton } from './profile.tsx';
import { queryLink } from './router.ts';
import type { Sorting } from './row-pages.ts';
import { useRequest } from './use-request.ts';

const TABS = ['Columns', 'Sample', 'Files', 'SQL'] as const;
type Tab = (typeof TABS)[number];

/** One table, view or mart. */
export function TableView({ name }: { readonly name: string }) {
  const { value: table, error } = useRequest<TableDetail>(`/api/tables/${encodeURIComponent(name)}`);
  const [tab, setTab] = useState<Tab>('Columns');
  if (error !== undefined) return <Failed error={error} />;
  if (table === undefined) return <p class="soft table-view">Loading {name}…</p>;
  const tabs = TABS.filter(
    (each) => (each !== 'Files' || table.newestFiles.length > 0) && (each !== 'SQL' || table.sql !== null),
  );
  return (
    <article class="table-view">
      <a class="back" href="/tables">
        ← All tables
      </a>
      <header>
        <h1>{table.name}</h1>
        <a class="button" href={queryLink(`select * from ${table.name}\nlimit 1000`)}>
          Query
        </a>
      </header>
      <p class="lead">{table.doc}</p>
      <Facts facts={factsOf(table)} />
      <Gaps gaps={table.gaps} />
      <Tabs label="Parts of the table" names={tabs} chosen={tab} onChoose={setTab} />
      <div role="tabpanel" aria-label={tab}>
        {tab === 'Columns' && <Columns table={table} />}
        {tab === 'Sample' && <Sample name={table.name} />}
        {tab === 'Files' && <Files table={table} />}
        {tab === 'SQL' && (
          <pre class="code" tabIndex={0}>
            {table.sql}
          </pre>
        )}
      </div>
    </article>
  );
}

function factsOf(table: TableDetail) {
  return [
    ['rows', table.rows === null ? null : formatCount(table.rows)],
    ['size', table.bytes === null ? null : formatBytes(table.bytes)],
    ['files', table.files === null ? null : formatCount(table.files)],
    ['one row is', table.grain === table.doc ? null : table.grain],
    ['key', table.key.join(', ')],
    [table.kind === 'view' ? 'view of' : 'pipeline', table.of],
    ['endpoint', table.endpoint],
  ] as const;
}

function Columns({ table }: { readonly table: TableDetail }) {
  return (
    <DataTable label="Columns" class="columns stack" columns={['column', 'type', 'meaning', 'values']}>
      {table.columns.map((column) => (
        <ColumnRow key={column.name} table={table} column={column} />
      ))}
    </DataTable>
  );
}

/** A long name may break after an underscore. */
function Breakable({ name }: { readonly name: string }) {
  return name.split(/(?<=_)/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

function ColumnRow({ table, column }: { readonly table: TableDetail; readonly column: TableColumn }) {
  return (
    <tr>
      <th scope="row">
        <Breakable name={column.name} /> {column.isKey && <span class="tag">key</span>}
      </th>
      <td class="type">{column.type}</td>
      <td>
        {column.doc} {column.unit !== null && <span class="tag">{column.unit}</span>}
        {column.isNullable && <span class="soft"> or null</span>}
      </td>
      <td class="profile">{table.rows !== 0 && <ProfileButton table={table.name} column={column.name} />}</td>
    </tr>
  );
}

interface SampleRows {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly Cell[])[];
}

function Sample({ name }: { readonly name: string }) {
  const [filter, setFilter] = useState('');
  const [sorting, setSorting] = useState<Sorting>();
  const chosen = new URLSearchParams({
    ...(filter === '' ? {} : { filter }),
    ...(sorting === undefined ? {} : { sort: sorting.column, order: sorting.order }),
  });
  const path = `/api/tables/${encodeURIComponent(name)}/sample?${chosen}`;
  const { value: sample, error } = useRequest<SampleRows>(path, { keepsPrevious: true });
  const rows = useMemo(() => ({ row: (at: number) => sample?.rows[at], load: () => {} }), [sample]);
  return (
    <>
      <input
        type="search"
        placeholder="Rows with a text, an address or a hash in any column"
        aria-label="Filter rows"
        onChange={(event) => setFilter(event.currentTarget.value.trim())}
      />
      {error !== undefined && <Failed error={error} />}
      {error === undefined && sample === undefined && <p class="soft">Loading rows…</p>}
      {sample !== undefined && (
        <>
          <p class="soft" role="status">
            First {counted(sample.rows.length, 'row')}
            {filter !== '' && ` with ${filter}`},{' '}
            {sorting === undefined ? 'in no particular order' : `by ${sorting.column}`}.
          </p>
          <Grid
            label={`Rows of ${name}`}
            columns={sample.columns}
            count={sample.rows.length}
            rows={rows}
            sorting={sorting}
            onSort={setSorting}
          />
        </>
      )}
    </>
  );
}

function Files({ table }: { readonly table: TableDetail }) {
  const { newestFiles, files } = table;
  return (
    <>
      {files !== null && files > newestFiles.length && (
        <p class="soft">
          The newest {newestFiles.length} of {formatCount(files)}.
        </p>
      )}
      <DataTable
        label="Files"
        class="stack"
        columns={['file', 'rows', 'size', 'ledger entry']}
        numbers={['rows', 'size', 'ledger entry']}
      >
        {newestFiles.map(({ path, rows, bytes, entry }) => (
          <tr key={path}>
            <td class="mono">{path}</td>
            <td class="number" data-label="rows">
              {formatCount(rows)}
            </td>
            <td class="number">{formatBytes(bytes)}</td>
            <td class="number" data-label="entry">
              {formatCount(entry)}
            </td>
          </tr>
        ))}
      </DataTable>
    </>
  );
}
