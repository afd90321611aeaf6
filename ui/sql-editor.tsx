import type { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';

interface SqlEditorProps {
  /** Replaces the text whenever the object changes. */
  readonly text: { readonly sql: string };
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** The editor; its code is loaded when it is first shown. */
export function SqlEditor({ text, onChange, onRun }: SqlEditorProps) {
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
