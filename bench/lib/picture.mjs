// Draws docs/growth.svg by Observable Plot.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom/worker';
import { root } from './process.mjs';

/** @returns the path of the picture, relative to docs/ */
export function drawGrowth(points) {
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  const chart = (label, y, at) =>
    Plot.plot({
      document,
      width: 260,
      height: 220,
      marginLeft: 55,
      style: { background: 'white' },
      x: { type: 'log', label: 'transactions', ticks: 3, tickFormat: '~s' },
      y: {
        type: y === 'peakMb' ? 'linear' : 'log',
        label,
        grid: true,
        zero: y === 'peakMb',
        ticks: 5,
        tickFormat: '~s',
      },
      marks: [Plot.lineY(points, { x: 'rows', y }), Plot.dot(points, { x: 'rows', y, fill: 'black' })],
      className: `plot-${at}`,
    });
  const charts = [
    ['seconds', 'seconds'],
    ['requests', 'requests'],
    ['bytes of Parquet', 'bytes'],
    ['peak memory, MB', 'peakMb'],
  ].map(([label, y], at) => {
    const svg = chart(label, y, at);
    svg.setAttribute('x', String(at * 265));
    svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    return svg.outerHTML;
  });
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="1060" height="220" viewBox="0 0 1060 220">${charts.join('')}</svg>\n`;
  writeFileSync(join(root, 'docs/growth.svg'), picture);
  return 'growth.svg';
}
