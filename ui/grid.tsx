import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount } from '../src/core/format.ts';
import type { Cell, ResultColumn } from '../src/ui/ui-types.ts';
import { CopyButton } from './copy-button.tsx';
import { cellText, contentHeight, type GridColumn, layOut, ROW_HEIGHT, rowAt, scrollTopOf } from './grid-layout.ts';
import { exploreLink, isExplored } from './router.ts';
import { nextSorting, type Sorting } from './row-pages.ts';

/** Rows of a grid; those that are not loaded are undefined. */
interface GridRows {
  row(at: number): readonly Cell[] | undefined;
  load(from: number, to: number): void;
}

interface GridProps {
  readonly label: string;
  readonly columns: readonly ResultColumn[];
  readonly count: number;
  readonly rows: GridRows;
  readonly sorting: Sorting | undefined;
  readonly onSort: (sorting: Sorting | undefined) => void;
}

interface View {
  readonly top: number;
  readonly left: number;
  readonly width: number;
  readonly height: number;
}

/** Delay after the last scroll before rows are requested, in milliseconds. */
const SETTLE_MS = 40;
const HEAD_HEIGHT = 44;

/** A grid that draws only the visible rows. */
export function Grid(props: GridProps) {
  const { label, columns, count, rows } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const view = useView(scroller);
  const [active, setActive] = useState({ row: 0, column: 0 });
  const [isOpen, setOpen] = useState(false);
  const isLoaded = rows.row(0) !== undefined;

  const laidOut = useMemo(() => layOut(columns, firstRows(rows)), [columns, isLoaded]);
  const bodyHeight = Math.max(ROW_HEIGHT, view.height - HEAD_HEIGHT);
  const first = rowAt(view.top, bodyHeight, count);
  const from = Math.max(0, Math.floor(first) - 2);
  const to = Math.min(count - 1, Math.ceil(first + bodyHeight / ROW_HEIGHT) + 2);
  useEffect(() => {
    const timer = setTimeout(() => rows.load(from, to), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [rows, from, to]);
  const move = (row: number, column: number): void => {
    const next = { row: clamp(row, 0, count - 1), column: clamp(column, 0, columns.length - 1) };
    setActive(next);
    if (scroller.current !== null) reveal(scroller.current, next.row, laidOut[next.column], count, bodyHeight);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(bodyHeight / ROW_HEIGHT) - 1);
    const next = moved(event, active, page, count, columns.length);
    if (next !== undefined) move(next.row, next.column);
    else if (event.key === 'Enter' && event.target === scroller.current) setOpen(true);
    else if (event.key === 'Escape' && isOpen) setOpen(false);
    else if (event.key === 'c' && (event.ctrlKey || event.metaKey) && String(getSelection()) === '')
      void navigator.clipboard.writeText(rows.row(active.row)?.[active.column] ?? '');
    else return;
    event.preventDefault();
  };
  const shown = laidOut.filter(
    ({ left, width }) => left + width > view.left - 200 && left < view.left + view.width + 200,
  );
  const total = laidOut.at(-1);
  const width = total === undefined ? 0 : total.left + total.width;
  const bodyTop = view.top - (first - from) * ROW_HEIGHT;
  return (
    <div class="grid-frame">
      <div
        ref={scroller}
        class="grid"
        role="grid"
        aria-label={label}
        aria-rowcount={count + 1}
        aria-colcount={columns.length}
        aria-activedescendant={count === 0 ? undefined : `cell-${active.row}-${active.column}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <Head {...props} shown={shown} all={laidOut} width={width} />
        {count === 0 && <p class="grid-empty soft">No rows.</p>}
        <div class="grid-body" role="rowgroup" style={{ height: `${contentHeight(count)}px`, width: `${width}px` }}>
          {Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => (
            <Row
              key={from + at}
              at={from + at}
              top={bodyTop + at * ROW_HEIGHT}
              cells={rows.row(from + at)}
              shown={shown}
              all={laidOut}
              active={active.row === from + at ? active.column : undefined}
              onPick={(column) => {
                move(from + at, column);
                setOpen(true);
              }}
            />
          ))}
        </div>
      </div>
      {isOpen && (
        <CellPanel
          column={columns[active.column]}
          row={active.row}
          value={rows.row(active.row)?.[active.column]}
          onClose={() => {
            setOpen(false);
            scroller.current?.focus();
          }}
        />
      )}
    </div>
  );
}

/** The visible part of a scrolled box. */
function useView(scroller: { readonly current: HTMLElement | null }): View {
  const [view, setView] = useState<View>({ top: 0, left: 0, width: 1200, height: 500 });
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const measure = (): void =>
      setView({ top: box.scrollTop, left: box.scrollLeft, width: box.clientWidth, height: box.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    box.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', measure);
    };
  }, [scroller]);
  return view;
}

interface HeadProps extends GridProps {
  readonly shown: readonly GridColumn[];
  readonly all: readonly GridColumn[];
  readonly width: number;
}

function Head({ shown, all, width, sorting, onSort }: HeadProps) {
  return (
    <div class="grid-head" role="rowgroup" style={{ width: `${width}px` }}>
      <div role="row" aria-rowindex={1}>
        {shown.map((column) => {
          const order = sorting?.column === column.name ? sorting.order : undefined;
          return (
            <div
              key={column.left}
              role="columnheader"
              aria-colindex={all.indexOf(column) + 1}
              aria-sort={order === undefined ? 'none' : order === 'asc' ? 'ascending' : 'descending'}
              class={column.isQuantity ? 'number' : undefined}
              style={{ left: `${column.left}px`, width: `${column.width}px` }}
              title={`${column.name} ${column.type}`}
            >
              <button type="button" class="head-text" onClick={() => onSort(nextSorting(sorting, column.name))}>
                <span class="name">{column.name}</span>
                <span class="type">
                  {column.type}
                  {order !== undefined && (order === 'asc' ? ' ↑' : ' ↓')}
                </span>
              </button>
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  readonly at: number;
  readonly top: number;
  readonly cells: readonly Cell[] | undefined;
  readonly shown: readonly GridColumn[];
  readonly all: readonly GridColumn[];
  readonly active: number | undefined;
  readonly onPick: (column: number) => void;
}

function Row({ at, top, cells, shown, all, active, onPick }: RowProps) {
  return (
    <div
      class="grid-row"
      role="row"
      aria-rowindex={at + 2}
      aria-busy={cells === undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      {shown.map((column) => {
        const index = all.indexOf(column);
        const value = cells?.[index];
        const classes = [
          column.isQuantity ? 'number' : '',
          value === null ? 'null' : '',
          active === index ? 'active' : '',
        ];
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the grid takes the keys.
          <div
            key={column.left}
            id={`cell-${at}-${index}`}
            role="gridcell"
            tabIndex={-1}
            aria-colindex={index + 1}
            aria-selected={active === index}
            class={classes.filter((name) => name !== '').join(' ') || undefined}
            style={{ left: `${column.left}px`, width: `${column.width}px` }}
            onClick={() => onPick(index)}
          >
            {value === null ? 'null' : cellText(column, value?.slice(0, 400) ?? '')}
          </div>
        );
      })}
    </div>
  );
}

function firstRows(rows: GridRows): readonly (readonly Cell[])[] {
  return Array.from({ length: 100 }, (_, at) => rows.row(at)).filter((row) => row !== undefined);
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

function moved(
  event: KeyboardEvent,
  { row, column }: { readonly row: number; readonly column: number },
  page: number,
  count: number,
  columns: number,
): { readonly row: number; readonly column: number } | undefined {
  const isFar = event.ctrlKey || event.metaKey;
  switch (event.key) {
    case 'ArrowDown':
      return { row: isFar ? count - 1 : row + 1, column };
    case 'ArrowUp':
      return { row: isFar ? 0 : row - 1, column };
    case 'ArrowRight':
      return { row, column: isFar ? columns - 1 : column + 1 };
    case 'ArrowLeft':
      return { row, column: isFar ? 0 : column - 1 };
    case 'PageDown':
      return { row: row + page, column };
    case 'PageUp':
      return { row: row - page, column };
    case 'Home':
      return { row: isFar ? 0 : row, column: 0 };
    case 'End':
      return { row: isFar ? count - 1 : row, column: columns - 1 };
    default:
      return undefined;
  }
}

/** Scrolls a cell into view. */
function reveal(
  box: HTMLElement,
  row: number,
  column: GridColumn | undefined,
  count: number,
  bodyHeight: number,
): void {
  const first = rowAt(box.scrollTop, bodyHeight, count);
  const last = first + bodyHeight / ROW_HEIGHT - 1;
  if (row < first) box.scrollTop = scrollTopOf(row, bodyHeight, count);
  else if (row > last) box.scrollTop = scrollTopOf(row - bodyHeight / ROW_HEIGHT + 1.5, bodyHeight, count);
  if (column === undefined) return;
  if (column.left < box.scrollLeft) box.scrollLeft = column.left;
  else if (column.left + column.width > box.scrollLeft + box.clientWidth)
    box.scrollLeft = column.left + column.width - box.clientWidth;
}

interface CellPanelProps {
  readonly column: ResultColumn | undefined;
  readonly row: number;
  readonly value: Cell | undefined;
  readonly onClose: () => void;
}

/** One value in full. */
function CellPanel({ column, row, value, onClose }: CellPanelProps) {
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
