import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount } from '../src/core/format.ts';
import type { BlockSpan, Coverage, CoverageCell } from '../src/ui/ui-types.ts';
import { CellDetails, type Chosen } from './coverage-details.tsx';
import { moved, zoomed } from './coverage-view.ts';
import { Failed } from './notes.tsx';
import { useLive } from './use-live.ts';
import { useRequest } from './use-request.ts';

const STATES = [
  ['proven', 'proven'],
  ['unproven', 'unproven'],
  ['part', 'missing in part'],
  ['missing', 'missing'],
  ['quarantined', 'missing: quarantined'],
  ['forgotten', 'missing: forgotten'],
] as const;
const NOT_EXPORTED = 'not exported';
const CELL_WIDTH = 12;

/** A map of the blocks of each pipeline: what is proven, unproven and missing. */
export function CoveragePage() {
  const version = useLive('commit');
  const [view, setView] = useState<BlockSpan>();
  const [cells, setCells] = useState(60);
  const [chosen, setChosen] = useState<Chosen>();
  const query = new URLSearchParams({
    cells: String(cells),
    ...(view === undefined ? {} : { from: String(view.from), to: String(view.to) }),
  });
  const { value: coverage, error } = useRequest<Coverage>(`/api/coverage?${query}`, { version, keepsPrevious: true });
  if (error !== undefined) return <Failed error={error} />;
  if (coverage === undefined) return <p class="soft">Reading the ledger…</p>;
  const { whole } = coverage;
  if (whole === null) return <p class="soft">No pipeline with a range of blocks is in the warehouse yet.</p>;
  const shown = view ?? whole;
  const change = (next: BlockSpan): void =>
    setView(next.from === whole.from && next.to === whole.to ? undefined : next);
  const views = [
    ['Zoom out', '−', zoomed(shown, 2, 0.5, whole)],
    ['Zoom in', '+', zoomed(shown, 0.5, 0.5, whole)],
    ['Earlier blocks', '←', moved(shown, -0.5, whole)],
    ['Later blocks', '→', moved(shown, 0.5, whole)],
  ] as const;
  return (
    <div class="coverage">
      <h1>Coverage</h1>
      <div class="coverage-bar">
        <p class="figures" role="status">
          blocks {shown.from} to {shown.to}
        </p>
        <div class="zoom" role="group" aria-label="Zoom">
          {views.map(([title, sign, next]) => (
            <button key={title} type="button" aria-label={title} onClick={() => change(next)}>
              {sign}
            </button>
          ))}
          <button type="button" onClick={() => setView(undefined)} disabled={view === undefined}>
            All
          </button>
        </div>
      </div>
      <ul class="map-legend">
        {STATES.map(([state, title]) => (
          <li key={state}>
            <span class={`swatch ${state}`} /> {title}
          </li>
        ))}
        <li>
          <span class="swatch" /> {NOT_EXPORTED}
        </li>
      </ul>
      <CoverageMap
        coverage={coverage}
        view={shown}
        whole={whole}
        chosen={chosen}
        onCells={setCells}
        onView={change}
        onChoose={setChosen}
      />
      <p class="soft keys">
        Arrow keys choose blocks, Enter opens them; + and − or the wheel zoom, Shift and arrows move.
      </p>
      {chosen !== undefined && <CellDetails chosen={chosen} version={version} onClose={() => setChosen(undefined)} />}
    </div>
  );
}

interface MapProps {
  readonly coverage: Coverage;
  readonly view: BlockSpan;
  readonly whole: BlockSpan;
  readonly chosen: Chosen | undefined;
  readonly onCells: (count: number) => void;
  readonly onView: (view: BlockSpan) => void;
  readonly onChoose: (chosen: Chosen) => void;
}

function CoverageMap({ coverage, view, whole, chosen, onCells, onView, onChoose }: MapProps) {
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState({ row: 0, cell: 0 });
  const latest = useRef({ view, whole, onView });
  latest.current = { view, whole, onView };
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) =>
      onCells(Math.max(20, Math.min(120, Math.floor((entry?.contentRect.width ?? 0) / CELL_WIDTH)))),
    );
    observer.observe(element);
    // Only a listener that is not passive can keep the page from scrolling.
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const { left, width } = element.getBoundingClientRect();
      const now = latest.current;
      now.onView(zoomed(now.view, event.deltaY > 0 ? 1.25 : 0.8, (event.clientX - left) / width, now.whole));
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener('wheel', wheel);
    };
  }, [onCells]);
  const rows = coverage.pipelines;
  const choose = (row: number, cell: number): void => {
    const [pipeline, at] = [rows[row], rows[row]?.cells[cell]];
    if (pipeline !== undefined && at !== undefined) onChoose({ pipeline: pipeline.name, from: at.from, to: at.to });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const count = rows[0]?.cells.length ?? 1;
    const point = (active.cell + 0.5) / count;
    const steps: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
    };
    const step = steps[event.key];
    if (step !== undefined && event.shiftKey && step[1] !== 0) onView(moved(view, step[1] * 0.25, whole));
    else if (step !== undefined) {
      const clamp = (value: number, most: number): number => Math.max(0, Math.min(most, value));
      setActive({ row: clamp(active.row + step[0], rows.length - 1), cell: clamp(active.cell + step[1], count - 1) });
    } else if (event.key === '+' || event.key === '=') onView(zoomed(view, 0.5, point, whole));
    else if (event.key === '-') onView(zoomed(view, 2, point, whole));
    else if (event.key === 'Enter' || event.key === ' ') choose(active.row, active.cell);
    else return;
    event.preventDefault();
  };
  return (
    <div
      class="map"
      role="grid"
      aria-label="Coverage"
      tabIndex={0}
      onKeyDown={onKeyDown}
      aria-activedescendant={`block-${active.row}-${active.cell}`}
    >
      {rows.map(({ name, cells }, row) => (
        <div key={name} role="row" class="map-row">
          <span role="rowheader" class="map-name" title={name}>
            {name}
          </span>
          <div class="map-cells" ref={row === 0 ? box : null} role="presentation">
            {cells.map((cell, at) => (
              <MapCell
                key={cell.from}
                id={`block-${row}-${at}`}
                cell={cell}
                isActive={active.row === row && active.cell === at}
                isChosen={chosen?.pipeline === name && chosen.from === cell.from && chosen.to === cell.to}
                onPick={() => {
                  setActive({ row, cell: at });
                  choose(row, at);
                }}
              />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

interface MapCellProps {
  readonly id: string;
  readonly cell: CoverageCell;
  readonly isActive: boolean;
  readonly isChosen: boolean;
  readonly onPick: () => void;
}

function titleOf({ from, to, state }: CoverageCell): string {
  return `${from === to ? from : `${from}:${to}`} ${STATES.find(([name]) => name === state)?.[1] ?? NOT_EXPORTED}`;
}

/** A cell of a strip, which only shows its state. */
export function Swatch({ cell }: { readonly cell: CoverageCell }) {
  return <span class={`cell ${cell.state}`} title={titleOf(cell)} />;
}

function MapCell({ id, cell, isActive, isChosen, onPick }: MapCellProps) {
  const { from, to, state, blocks } = cell;
  const title = titleOf(cell);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the map takes the keys.
    <span
      id={id}
      role="gridcell"
      tabIndex={-1}
      aria-label={title}
      aria-selected={isChosen}
      title={`${title}, ${formatCount(blocks)} of ${formatCount(to - from + 1)} blocks`}
      class={`cell ${state}${isActive ? ' active' : ''}${isChosen ? ' chosen' : ''}`}
      onClick={onPick}
    />
  );
}
