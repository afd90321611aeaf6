import { formatCount } from '../src/core/format.ts';
import type { Cell, ResultColumn } from '../src/ui/ui-types.ts';
import { CopyButton } from './copy-button.tsx';
import { exploreLink, isExplored } from './router.ts';

interface CellPanelProps {
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
