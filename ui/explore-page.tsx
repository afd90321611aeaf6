import { useMemo, useState } from 'preact/hooks';
import { counted, formatCount } from '../src/core/format.ts';
import type { FoundPlace, ThingFacts, ThingSection, TraceNode } from '../src/show/shown-thing.ts';
import type { BalanceHistory, Cell, ExplainedRow, ExploreExample, FoundRows } from '../src/ui/ui-types.ts';
import { CopyButton } from './copy-button.tsx';
import { DataTable, Facts } from './data-table.tsx';
import { Failed } from './notes.tsx';
import { Plot } from './plot.tsx';
import { exploreLink, isExplored, navigate, queryLink } from './router.ts';
import { type SummaryPart, shortened, summarizeRows } from './row-summary.ts';
import { useRequest } from './use-request.ts';

/** Finds an account, transaction, message, trace or block, and the origin of its rows. */
export function ExplorePage({ path }: { readonly path: string }) {
  const sought = decodeURIComponent(/^\/explore\/([^/]+)/.exec(path)?.[1] ?? '');
  const [text, setText] = useState(sought);
  const { value: found, error } = useRequest<ThingFacts>(
    sought === '' ? undefined : `/api/explore?${new URLSearchParams({ q: sought })}`,
  );
  return (
    <div class="explore">
      <h1>Explore</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') navigate(exploreLink(text.trim()));
        }}
      >
        <input
          type="search"
          placeholder="Address, hash of a transaction, message, trace or block, or a masterchain seqno"
          aria-label="Address, hash or seqno"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="main">
          Find
        </button>
      </form>
      {error !== undefined && <Failed error={error} />}
      {sought !== '' && found === undefined && error === undefined && <Searching />}
      {sought === '' && <Examples />}
      {found !== undefined && <Found key={found.value} found={found} />}
    </div>
  );
}

/** Examples from this warehouse. */
function Examples() {
  const { value: examples = [], error } = useRequest<readonly ExploreExample[]>('/api/explore/examples');
  return (
    <>
      {error !== undefined && <Failed error={error} />}
      <Facts
        look="values"
        facts={examples.map(({ title, value }) => [
          title,
          <a key={title} href={exploreLink(value)}>
            {value}
          </a>,
        ])}
      />
    </>
  );
}

function Found({ found: { kind, value, friendly, sections, trace } }: { readonly found: ThingFacts }) {
  const pathTo = (where: string): string => `/api/explore/places?${new URLSearchParams({ q: value, where })}`;
  const indexed = useRequest<readonly FoundPlace[]>(pathTo('indexed'));
  // Scans the other columns, which takes long in a large warehouse.
  const others = useRequest<readonly FoundPlace[]>(indexed.value === undefined ? undefined : pathTo('others'));
  const places = [...(indexed.value ?? []), ...(others.value ?? [])];
  const error = indexed.error ?? others.error;
  const isSearching = others.value === undefined && error === undefined;
  if (places.length + sections.length === 0 && error === undefined)
    return isSearching ? (
      <Searching />
    ) : (
      <p class="note">
        No table has the {kind} <code>{value}</code>. It may lie in blocks that are not exported.
      </p>
    );
  return (
    <>
      <p class="sought">
        <span class="tag">{kind}</span> <code>{value}</code> <CopyButton text={value} />
        {friendly !== null && (
          <>
            <br />
            <span class="tag">user-friendly</span> <code>{friendly}</code> <CopyButton text={friendly} />
          </>
        )}
      </p>
      {sections.map((section) => (
        <Section key={section.title} section={section} />
      ))}
      {kind === 'address' && <BalanceChart account={value} />}
      {trace.length > 0 && (
        <section>
          <h2>Trace</h2>
          <ul class="trace">
            {trace.map((node) => (
              <Node key={node.hash} node={node} value={value} />
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>Rows</h2>
        {places.map((place, at) => (
          <Place key={`${place.table} ${place.column}`} place={place} value={value} isFirst={at === 0} />
        ))}
        {error !== undefined && <Failed error={error} />}
        {isSearching && <Searching />}
      </section>
    </>
  );
}

function Searching() {
  return <p class="soft">Searching every table…</p>;
}

/** One row as a list of facts, several as a table. */
function Section({ section: { title, columns, rows } }: { readonly section: ThingSection }) {
  const [only = [], ...others] = rows;
  return (
    <section>
      <h2>{title}</h2>
      {others.length === 0 ? (
        <Values columns={columns} row={only} />
      ) : (
        <DataTable label={title} columns={columns}>
          {rows.map((row, at) => (
            <tr key={`${at}`}>
              {row.map((cell, place) => (
                <td key={columns[place]} class="mono" title={cell ?? ''}>
                  <Value cell={cell} column={columns[place]} isShort />
                </td>
              ))}
            </tr>
          ))}
        </DataTable>
      )}
    </section>
  );
}

/** The values of a row, without nulls. */
function Values({ columns, row }: { readonly columns: readonly string[]; readonly row: readonly Cell[] }) {
  const facts = columns.map((column, at) => {
    const cell = row[at] ?? null;
    return [column, cell === null ? null : <Value key={column} cell={cell} column={column} />] as const;
  });
  return <Facts look="values" facts={facts} />;
}

interface ValueProps {
  readonly cell: string | null;
  readonly column: string | undefined;
  readonly isShort?: boolean;
}

/** A value; addresses, hashes and masterchain blocks link to their page. */
function Value({ cell, column, isShort = false }: ValueProps) {
  if (cell === null) return null;
  if (!isExplored(cell, column)) return <>{cell}</>;
  return (
    <a href={exploreLink(cell)} title={cell}>
      {isShort ? shortened(cell) : cell}
    </a>
  );
}

function Node({ node, value }: { readonly node: TraceNode; readonly value: string }) {
  const { hash, account, ton, opcode, fees, exit, isAborted, children } = node;
  return (
    <li>
      <div class={hash === value ? 'own' : undefined}>
        <a href={exploreLink(hash)} class="mono" title={hash}>
          {hash.slice(0, 8)}…
        </a>{' '}
        <a href={exploreLink(account)} class="mono" title={account}>
          {shortened(account)}
        </a>
        {ton !== null && <span class="figure"> {ton} TON</span>}
        {opcode !== null && <span class="tag"> {opcode}</span>}
        <span class="soft"> fees {fees}</span>
        {exit !== null && <span class="state quarantined"> exit code {exit}</span>}
        {isAborted && <span class="state quarantined"> aborted</span>}
      </div>
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Node key={child.hash} node={child} value={value} />
          ))}
        </ul>
      )}
    </li>
  );
}

interface PlaceProps {
  readonly place: FoundPlace;
  readonly value: string;
  readonly isFirst: boolean;
}

function Place({ place: { table, column, doc, count }, value, isFirst }: PlaceProps) {
  const [isOpen, setOpen] = useState(isFirst);
  const path = `/api/explore/rows?${new URLSearchParams({ q: value, table, column })}`;
  const { value: found, error } = useRequest<FoundRows>(isOpen ? path : undefined);
  const summaryOf = useMemo(() => (found === undefined ? undefined : summarizeRows(found, value)), [found, value]);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} class="found">
      <summary>
        <b>{table}</b>.{column} <span class="figure">{formatCount(count)}</span> <span class="soft">{doc}</span>
      </summary>
      {error !== undefined && <Failed error={error} />}
      {found !== undefined && (
        <>
          {count > found.rows.length && (
            <p class="soft">
              The newest {found.rows.length}.{' '}
              <a href={queryLink(`select * from ${table}\nwhere ${column} = '${value}'`)}>Query all</a>
            </p>
          )}
          {found.rows.map((row, at) => (
            <FoundRow
              key={`${at}`}
              table={table}
              found={found}
              at={at}
              sought={value}
              summary={summaryOf?.(row) ?? []}
              isOpen={found.rows.length === 1}
            />
          ))}
        </>
      )}
    </details>
  );
}

interface FoundRowProps {
  readonly table: string;
  readonly found: FoundRows;
  readonly at: number;
  readonly sought: string;
  readonly summary: readonly SummaryPart[];
  readonly isOpen: boolean;
}

function FoundRow({ table, found: { columns, rows, key }, at, sought, summary, isOpen: isOpenFirst }: FoundRowProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const row = rows[at] ?? [];
  return (
    <details class="row" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {summary
          .filter(({ format }) => format === 'time')
          .map(({ name, text }) => (
            <span key={name} class="key figure" title={name}>
              {text}
            </span>
          ))}
        {key
          .filter(({ at: place }) => row[place] !== sought || key.length === 1)
          .map(({ name, at: place }) => (
            <span key={name} class="key" title={row[place] ?? ''}>
              <span class="soft">{name}</span> <span class="mono">{shortened(row[place] ?? '')}</span>
            </span>
          ))}
        {summary
          .filter(({ format }) => format !== 'time')
          .map(({ name, format, text }) => (
            <span key={name} class="key">
              <span class="soft">{name}</span> <span class={format === 'address' ? 'mono' : 'figure'}>{text}</span>
            </span>
          ))}
      </summary>
      {isOpen && (
        <>
          <Origin table={table} words={key.map(({ name: column, at: place }) => `${column}=${row[place]}`)} />
          <Values columns={columns.map(({ name }) => name)} row={row} />
        </>
      )}
    </details>
  );
}

interface OriginProps {
  readonly table: string;
  readonly words: readonly string[];
}

/** The origin of a row, as `tonlake show` prints it. */
function Origin({ table, words }: OriginProps) {
  const [isRequested, setRequested] = useState(false);
  const query = new URLSearchParams({ table, key: words.join('\n') });
  const { value: origin, error } = useRequest<ExplainedRow>(isRequested ? `/api/explain?${query}` : undefined);
  const isBusy = isRequested && error === undefined;
  return (
    <>
      {error !== undefined && <Failed error={error} />}
      {origin !== undefined ? (
        <pre class="code" tabIndex={0}>
          {factsOf(origin.text)}
        </pre>
      ) : (
        <button type="button" disabled={isBusy} onClick={() => setRequested(true)}>
          {isBusy ? 'Reading…' : 'Where is this row from?'}
        </button>
      )}
    </>
  );
}

/** The facts of an explanation, without the values, which are above it. */
function factsOf(text: string): string {
  const at = text.search(/^ {2}entry /m);
  return (at < 0 ? text : text.slice(at)).replaceAll(/^ {2}/gm, '').trim();
}

const STEPS = { mark: 'line', x: 'time', y: ['TON'], color: '', xType: 'TIMESTAMP', curve: 'step-after' } as const;

/** The balance of an account after each of its transactions. */
function BalanceChart({ account }: { readonly account: string }) {
  const { value, error } = useRequest<BalanceHistory | null>(
    `/api/explore/balances?${new URLSearchParams({ q: account })}`,
  );
  const rows = useMemo(() => (value?.points ?? []).map(({ time, ton }) => [time, ton]), [value]);
  if (error !== undefined) return <Failed error={error} />;
  const last = value?.points.at(-1);
  if (value === undefined || value === null || last === undefined) return null;
  return (
    <section class="balances">
      <h2>Balance</h2>
      <p class="soft">
        <b class="figure">{last.ton} TON</b> after the last of {counted(value.count, 'state')} in{' '}
        <a href={`/tables/${encodeURIComponent(value.table)}`}>{value.table}</a>, {last.time.slice(0, 19)} UTC
        {value.points.length < value.count && `; the chart has ${formatCount(value.points.length)} of them`}
      </p>
      {value.points.length > 1 && <Plot rows={rows} choice={STEPS} label="Balance over time, in TON" />}
    </section>
  );
}
