import type { ChartDirective } from '../report-definition.ts';
import { chartOptions, describePoint, type Points, panelsOf } from './chart-options.ts';
import type { DrawingDocument } from './plot-library.ts';

/** Draws charts without a browser. */
export interface Plotter {
  /** @returns SVG of the given width in pixels */
  draw(points: Points, directive: ChartDirective, width: number): string;
}

/** Loads the plotting library; it is large, so only HTML reports load it. */
export async function openPlotter(): Promise<Plotter> {
  const { Plot, openDocument } = await import('./plot-library.ts');
  const document = openDocument();
  return {
    draw: (points, { def }, width) =>
      panelsOf(points, def)
        .map((panel) => {
          document.body.replaceChildren(Plot.plot({ document, ...chartOptions(Plot, panel, def, width) }));
          return finish(document, panel);
        })
        .join(''),
  };
}

/** Replaces the row numbers in the titles of marks by exact values. Texts from the chain are only in titles, never in attributes. */
function finish({ body }: DrawingDocument, shown: Points): string {
  for (const title of body.querySelectorAll('title')) {
    const point = shown.points[Number(title.textContent)];
    const mark = title.parentElement;
    if (point === undefined || mark === null) continue;
    mark.setAttribute('data-value', point.exact ?? '');
    if (point.isPartial) mark.setAttribute('data-partial', '');
    title.textContent = describePoint(point);
  }
  body.querySelector('svg')?.setAttribute('aria-hidden', 'true');
  return body.innerHTML;
}
