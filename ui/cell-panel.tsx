import { useState } from 'preact/hooks';
import { formatCount } from '../src/core/format.ts';
import type { Cell, ResultColumn } from '../src/ui/ui-types.ts';
import { exploreLink, isExplored } from './router.ts';

export interface CellPanelProps {
  readonly column: ResultColumn | undefined;
  readonly row: number;
  readonly value: Cell | undefined;
  readonly onClose: () => void;
}

/** One value in full. */
export function CellPanel({ column, row, value, onClose }: CellPanelProps) {
  return (
    <section class="cell-panel" aria-label="Value">
      <header>
        <b>{column?.name}</b> <span class="soft">row {formatCount(row + 1)}</span>
        {typeof value === 'string' && <CopyButton text={value} />}
        {typeof value === 'string' && isExplored(value, column?.name) && <a href={exploreLink(value)}>Explore</a>}
        <button type="button" class="plain" onClick={onClose} aria-label="Close value">
          ✕
        </button>
      </header>
      <pre tabIndex={0} class={value === null ? 'null' : undefined}>
        {value === null ? 'null' : value}
      </pre>
    </section>
  );
}

/** Copies a text. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(setDone, 1500, false);
  };
  return (
    <button type="button" class="plain" onClick={() => void copy()}>
      {isDone ? 'Copied' : label}
    </button>
  );
}
