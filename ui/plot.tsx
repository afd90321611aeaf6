import { useEffect, useRef, useState } from 'preact/hooks';
import type { Cell } from '../src/ui/ui-types.ts';
import type { ChartChoice } from './draw-chart.ts';

interface PlotProps {
  readonly rows: readonly (readonly Cell[])[];
  readonly choice: ChartChoice & { readonly xType: string };
  readonly label: string;
}

/** A chart as wide as its container. The plotting library is loaded with the first chart. */
export function Plot({ rows, choice, label }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) return;
    let isGone = false;
    void import('./draw-chart.ts').then(({ drawChart }) => {
      if (!isGone) box.current?.replaceChildren(drawChart(rows, choice, width));
    });
    return () => {
      isGone = true;
    };
  }, [rows, choice, width]);
  return <div class="chart" ref={box} role="img" aria-label={label} />;
}
