import { DuckDBDecimalValue } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { rankRows, shownText } from '../../src/reports/cells.ts';
import { numberLabel, shortNumber, timeLabel, timeStep } from '../../src/reports/html/axis.ts';
import { html, trusted } from '../../src/reports/html/html.ts';
import { palette, surfaces } from '../../src/reports/html/page-style.ts';
import { escapeMarkdown } from '../../src/reports/markdown.ts';

test('a template escapes every value that is not HTML already', () => {
  const list = ['<', html`<b>${'>'}</b>`, 1, undefined];
  expect(html`<i title="${`"'&`}">${list}</i>${trusted('<br>')}`.text).toBe(
    '<i title="&quot;&#39;&amp;">&lt;<b>&gt;</b>1</i><br>',
  );
});

test('Markdown of a value is text alone', () => {
  expect(escapeMarkdown('a|b\n*c* `d` <e> [f](http://g) www.h.org i@j.k ~l~ \\')).toBe(
    'a\\|b \\*c\\* \\`d\\` &lt;e&gt; \\[f\\](http&#58;//g) www&#46;h.org i&#64;j.k \\~l\\~ \\\\',
  );
});

test('numbers are shown in groups of three with all their digits, but floats with six', () => {
  expect(shownText(-1234567n, 'BIGINT')).toBe('-1,234,567');
  expect(shownText(new DuckDBDecimalValue(-123456789n, 38, 5), 'DECIMAL(38,5)')).toBe('-1,234.56789');
  expect(shownText(new DuckDBDecimalValue(1n, 38, 9), 'DECIMAL(38,9)')).toBe('0.000000001');
  expect(shownText(1234.56789, 'DOUBLE')).toBe('1,234.57');
  expect(shownText(1e30, 'DOUBLE')).toBe('1e+30');
  expect(shownText(null, 'BIGINT')).toBe('–');
});

test('rows are ranked by values that no float can tell apart; nulls have no rank', () => {
  const rank = (type: string, values: readonly unknown[]) =>
    rankRows({ columns: [{ name: 'a', type }], rows: values.map((value) => [value]) }, 0);
  expect(rank('BIGINT', [9007199254740993n, 9007199254740992n, null, -5n, 9007199254740992n])).toEqual([
    2,
    1,
    null,
    0,
    1,
  ]);
  const decimal = (value: bigint) => new DuckDBDecimalValue(value, 38, 0);
  expect(rank('DECIMAL(38,0)', [decimal(10n ** 30n + 1n), decimal(10n ** 30n), decimal(9n)])).toEqual([2, 1, 0]);
  expect(rank('VARCHAR', ['b', 'a', '10', '9'])).toEqual([3, 2, 0, 1]);
  expect(rank('DOUBLE', [10.5, 9.25])).toEqual([1, 0]);
});

describe('the axis of time', () => {
  const at = (text: string): Date => new Date(`${text}Z`);

  test('labels the date once, and again where it changes', () => {
    const label = timeLabel();
    const ticks = ['2026-05-01T23:58:00', '2026-05-01T23:59:00', '2026-05-02T00:00:00', '2026-05-02T00:01:30'];
    expect(ticks.map((tick, index) => label(at(tick), index))).toEqual(['23:58\n05-01', '23:59', '05-02', '00:01:30']);
  });

  test('takes the least distance as the width of a bar, or the unit of a single one', () => {
    const times = (...texts: string[]) => timeStep(texts.map((text) => at(text).getTime()));
    expect(times('2026-05-01T00:00', '2026-05-01T03:00', '2026-05-01T04:00')).toBe(3_600_000);
    expect(times('2026-05-01T00:00')).toBe(86_400_000);
    expect(times('2026-05-01T05:00')).toBe(3_600_000);
    expect(times('2026-05-01T05:07')).toBe(60_000);
  });

  test('numbers far from zero have labels that differ', () => {
    expect([57_105, 57_110, 57_115].map((tick) => numberLabel(57_104.5, 57_124)?.(tick))).toEqual([
      '57,105',
      '57,110',
      '57,115',
    ]);
    expect([0, 20_000].map((tick) => numberLabel(0, 57_124)?.(tick))).toEqual(['0', '20K']);
    expect(numberLabel(0, 9999)).toBeUndefined();
  });

  test('short numbers are short', () => {
    expect([12_345, 3e6, 1.5e12, 2.7e36, -20_000].map(shortNumber)).toEqual([
      '12.35K',
      '3M',
      '1.5T',
      '2.7e+36',
      '-20K',
    ]);
  });
});

test.each(['light', 'dark'] as const)(
  'colours of series stand out from the %s page, and text is easy to read',
  (theme) => {
    const { page, text, rest } = surfaces[theme];
    for (const color of [...palette[theme], rest]) expect(contrast(color, page), color).toBeGreaterThanOrEqual(3);
    expect(contrast(text, page)).toBeGreaterThan(12);
  },
);

/** Contrast of two colours as WCAG 2.1 defines it. */
function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
