import type { EditorView } from '@codemirror/view';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { parametersIn } from '../src/sql/parameters.ts';
import type { RunResult, SavedQuery, Session, TableDetail, TableItem } from '../src/ui/ui-types.ts';
import { asError, post } from './api.ts';
import { chartIn, withChart } from './chart-line.ts';
import type { ChartChoice } from './draw-chart.ts';
import { Failed } from './notes.tsx';
import { type PastQuery, QueryLists, rememberQuery } from './query-lists.tsx';
import { ResultView } from './result-view.tsx';
import { linkedQuery, queryLink } from './router.ts';
import { SaveQuery } from './save-query.tsx';
import { useNow } from './times.ts';
import { useRequest } from './use-request.ts';

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly since: number; readonly controller: AbortController }
  | { readonly kind: 'done'; readonly result: RunResult; readonly savedSql: string | undefined }
  | { readonly kind: 'failed'; readonly error: Error };

/** An editor for queries, and their results. */
export function QueryPage({ session }: { readonly session: Session }) {
  const [linked, setLinked] = useState(() => linkedQuery(location.hash));
  const [sql, setSql] = useState(linked.sql);
  const [params, setParams] = useState(linked.params);
  const [state, setState] = useState<State>({ kind: 'idle' });
  const [dialect, setDialect] = useState<'duckdb' | 'trino'>('duckdb');
  const [saves, setSaves] = useState(0);
  const [chart, setChart] = useState<ChartChoice>();
  const names = parameterNames(sql);
  useEffect(() => {
    const follow = (): void => {
      if (location.pathname !== '/query') return;
      // The rows on the page are those of another query.
      setState((before) => (before.kind === 'running' ? before : { kind: 'idle' }));
      show(linkedQuery(location.hash));
    };
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  useEffect(() => {
    const named = Object.fromEntries(Object.entries(params).filter(([name]) => names.includes(name)));
    const shown = chart === undefined ? sql : withChart(sql, chart);
    history.replaceState(null, '', sql.trim() === '' ? '/query' : queryLink(shown, named));
  }, [sql, params, chart]);
  const show = (query: PastQuery): void => {
    setLinked({ ...query });
    setSql(query.sql);
    setParams(query.params);
    setChart(chartIn(query.sql));
  };
  const runExample = (query: PastQuery): void => {
    show(query);
    void run(query);
  };
  const run = async ({ sql, params }: PastQuery): Promise<void> => {
    if (sql.trim() === '' || state.kind === 'running') return;
    const controller = new AbortController();
    setState({ kind: 'running', since: Date.now(), controller });
    const given = Object.fromEntries(parameterNames(sql).map((name) => [name, params[name] ?? '']));
    rememberQuery({ sql, params: given });
    setChart(chartIn(sql));
    try {
      const result = await post<RunResult>('/api/runs', { sql, params: given, dialect }, controller.signal);
      // Saved queries run on the overview, without parameters.
      const canSave = session.savesQueries && dialect === 'duckdb' && Object.keys(given).length === 0;
      setState({ kind: 'done', result, savedSql: canSave ? sql : undefined });
    } catch (error) {
      const isCancelled = controller.signal.aborted;
      setState({ kind: 'failed', error: isCancelled ? new Error('cancelled') : asError(error) });
    }
  };
  const latest = useRef(() => run({ sql, params }));
  latest.current = () => run({ sql, params });
  const onRun = useCallback(() => void latest.current(), []);
  return (
    <div class="query">
      <h1 class="hidden">Query</h1>
      <section class="writing" aria-label="Query">
        <SqlEditor text={linked} onChange={setSql} onRun={onRun} />
        {names.length > 0 && (
          <div class="params">
            {names.map((name) => (
              <label key={name}>
                <span>${name}</span>
                <input
                  value={params[name] ?? ''}
                  onInput={(event) => setParams({ ...params, [name]: event.currentTarget.value })}
                  onKeyDown={(event) => event.key === 'Enter' && onRun()}
                />
              </label>
            ))}
          </div>
        )}
        <div class="actions">
          <button type="button" class="main" onClick={onRun} disabled={state.kind === 'running' || sql.trim() === ''}>
            Run <kbd>{/Mac/.test(navigator.platform) ? '⌘' : 'Ctrl'} ⏎</kbd>
          </button>
          {state.kind === 'running' && <Running since={state.since} onCancel={() => state.controller.abort()} />}
          <label>
            <input
              type="checkbox"
              checked={dialect === 'trino'}
              onChange={(event) => setDialect(event.currentTarget.checked ? 'trino' : 'duckdb')}
            />{' '}
            Trino SQL
          </label>
          {session.savesQueries && <SaveQuery sql={sql} label="Save" onSaved={() => setSaves(saves + 1)} />}
          <QueryLists version={saves} onPick={show} />
        </div>
      </section>
      <SchemaPane />
      {state.kind === 'failed' && <Failed error={state.error} />}
      {state.kind === 'done' && (
        <ResultView key={state.result.id} {...state} chart={chart} onChart={setChart} session={session} />
      )}
      {state.kind === 'idle' && <Start onPick={runExample} />}
    </div>
  );
}

function Running({ since, onCancel }: { readonly since: number; readonly onCancel: () => void }) {
  const now = useNow(100);
  return (
    <>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
      <span class="soft figure" role="timer">
        {((now - since) / 1000).toFixed(1)} s
      </span>
    </>
  );
}

const EXAMPLES: readonly SavedQuery[] = [
  { name: 'tables', sql: '-- What is here?\nshow tables' },
  { name: 'commits', sql: '-- What was committed last?\nselect * from _commits\norder by number desc\nlimit 100' },
];

/** Example queries that run on a click. */
function Start({ onPick }: { readonly onPick: (query: PastQuery) => void }) {
  const { value: questions = [] } = useRequest<readonly SavedQuery[]>('/api/questions');
  return (
    <div class="start">
      <p class="soft">
        Any DuckDB SQL that reads. Parameters are written $name. Begin with a table, or with one of these:
      </p>
      <ul class="questions">
        {[...EXAMPLES, ...questions].map(({ name, sql }) => (
          <li key={name}>
            <button type="button" onClick={() => onPick({ sql, params: {} })}>
              {titleOf(sql)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The comment in the first line of a query. */
function titleOf(sql: string): string {
  return /^-- *(.*)/.exec(sql)?.[1] ?? sql;
}

function parameterNames(sql: string): readonly string[] {
  return [...new Set(parametersIn(sql).map(({ name }) => name))];
}

/** From this width on, the pane is open beside the editor. */
const WIDE = '(min-width: 1100px)';

/** Tables that have rows, and their columns with types and units. */
function SchemaPane() {
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

interface SqlEditorProps {
  /** Replaces the text whenever the object changes. */
  readonly text: { readonly sql: string };
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** The editor; its code is loaded when it is first shown. */
function SqlEditor({ text, onChange, onRun }: SqlEditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => {
    let isGone = false;
    void import('./editor.ts').then(({ openEditor }) => {
      if (isGone || box.current === null) return;
      view.current = openEditor(box.current, { text: latest.current.sql, onChange, onRun });
      view.current.focus();
    });
    return () => {
      isGone = true;
      view.current?.destroy();
    };
  }, [onChange, onRun]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === text.sql) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text.sql } });
    editor.focus();
  }, [text]);
  return <div class="editor" ref={box} />;
}
