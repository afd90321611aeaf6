import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { complete, type KnownNames } from '../src/cli/shell/completion.ts';
import type { Names } from '../src/ui/ui-types.ts';
import { get } from './api.ts';

interface EditorOptions {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** An SQL editor. It completes names of the warehouse by the rules of the shell. */
export function openEditor(parent: HTMLElement, options: EditorOptions): EditorView {
  const nonce = document.querySelector('meta[name=nonce]')?.getAttribute('content') ?? '';
  const run = (): boolean => {
    options.onRun();
    return true;
  };
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run },
            { key: 'Tab', run: acceptCompletion },
          ]),
        ),
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        sql({ dialect: PostgreSQL }),
        syntaxHighlighting(highlighting),
        autocompletion({ override: [completeNames], icons: false }),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        placeholder('select … from …'),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Query, in DuckDB SQL' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange(update.state.doc.toString());
        }),
        theme,
      ],
    }),
  });
}

let loaded: Promise<KnownNames> | undefined;

async function loadNames(): Promise<KnownNames> {
  const { columns, functions, keywords } = await get<Names>('/api/names');
  return {
    columns: new Map(Object.entries(columns)),
    keywords,
    functions: functions.map((name) => `${name}(`),
    commands: new Map(),
  };
}

async function completeNames({ state, pos, explicit }: CompletionContext): Promise<CompletionResult | null> {
  loaded ??= loadNames();
  const names = await loaded.catch(() => undefined);
  if (names === undefined) {
    loaded = undefined;
    return null;
  }
  const { from } = state.doc.lineAt(pos);
  const line = state.sliceDoc(from, pos);
  // Completes columns of the tables that the query names, also after the cursor; of all tables if it names none.
  const rest = `${state.sliceDoc(pos)} ${state.sliceDoc(0, from)}`;
  const tables = [...names.columns.keys()];
  const isNamed = tables.some((table) => new RegExp(`\\b${table}\\b`, 'i').test(state.doc.toString()));
  const [candidates, word] = complete(line, isNamed ? rest : `${rest} ${tables.join(' ')}`, names);
  const isWanted = explicit || word !== '' || /[.]$|\b(from|join)\s+$/i.test(line);
  if (!isWanted || candidates.length === 0) return null;
  return {
    from: pos - word.length,
    options: candidates
      .slice(0, 400)
      .map((label, at) => ({ label, type: typeOf(names, label), boost: -Math.min(at, 99) })),
  };
}

function typeOf({ columns, functions }: KnownNames, label: string): string {
  if (columns.has(label)) return 'table';
  if (functions.includes(label)) return 'function';
  return 'column';
}

const highlighting = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--c1)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--c3)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--c2)' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--c5)' },
]);

const theme = EditorView.theme({
  '&': { fontSize: '14px', backgroundColor: 'var(--page)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', maxHeight: '45vh', minHeight: '118px' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--select)',
  },
  '.cm-matchingBracket': { outline: '1px solid var(--soft)', backgroundColor: 'transparent !important' },
  '.cm-tooltip': {
    backgroundColor: 'var(--page)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    overflow: 'hidden',
  },
  '.cm-tooltip-autocomplete ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete ul li': { padding: '3px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--link)', color: 'var(--page)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
});
