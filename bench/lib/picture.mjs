// Draws docs/growth.svg by Observable Plot, which is installed once under the system's temporary folder.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './process.mjs';

const PACKAGES = ['@observablehq/plot@0.6.17', 'linkedom@0.18.12'];
const folder = join(tmpdir(), 'tonlake-bench-plot');

/** @returns the picture's path as docs/ sees it; undefined, with a notice, where the packages cannot be had */
export async function drawGrowth(points) {
  const tools = await load();
  if (tools === undefined) return undefined;
  const { Plot, document } = tools;
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

async function load() {
  if (!existsSync(join(folder, 'node_modules/@observablehq/plot'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    const { status } = spawnSync('npm', ['install', '--silent', ...PACKAGES], { cwd: folder, stdio: 'ignore' });
    if (status !== 0) {
      process.stderr.write('left out: the picture, which needs Observable Plot from the npm registry\n');
      return undefined;
    }
  }
  const require = createRequire(join(folder, 'package.json'));
  const [Plot, { parseHTML }] = await Promise.all(
    ['@observablehq/plot', 'linkedom'].map((name) => import(pathToFileURL(require.resolve(name)).href)),
  );
  return { Plot, document: parseHTML('<html><body></body></html>').document };
}
