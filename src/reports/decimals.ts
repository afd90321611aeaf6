/** Maximum number of decimals that are shown unrounded. */
const PLAIN = 4;

/**
 * The number of decimals for the numbers of one column, by the greatest: two from 100, four from 1, six from 0.001, otherwise all; fewer
 * if no number has that many.
 *
 * @param texts exact decimals of one type, such as `57104.538701896`
 */
export function readableDecimals(texts: readonly string[]): number {
  const scale = texts.reduce((most, text) => Math.max(most, fractionOf(text).length), 0);
  const greatest = texts.reduce((most, text) => Math.max(most, Math.abs(Number(text))), 0);
  const needed = greatest >= 100 ? 2 : greatest >= 1 ? PLAIN : greatest >= 0.001 ? 6 : scale;
  if (scale <= PLAIN && needed > scale) return scale;
  const used = texts.reduce((most, text) => Math.max(most, fractionOf(text).replace(/0+$/, '').length), 0);
  return Math.min(needed, used);
}

/** `57104.54` for `57104.538701896` and 2 decimals; `<0.01` for a positive number that would be shown as zero. */
export function roundDecimal(text: string, decimals: number): string {
  const fraction = fractionOf(text);
  if (fraction.length <= decimals && /[1-9]/.test(text)) return text;
  const [whole = ''] = text.split('.');
  const isNegative = text.startsWith('-');
  const digits = BigInt(whole.replace('-', '') + fraction);
  if (digits === 0n) return '0';
  const unit = 10n ** BigInt(fraction.length - decimals);
  const rounded = (digits + unit / 2n) / unit;
  if (rounded === 0n && digits > 0n) return `${isNegative ? '>-' : '<'}${placed(1n, decimals)}`;
  return `${isNegative && rounded > 0n ? '-' : ''}${placed(rounded, decimals)}`;
}

function placed(digits: bigint, decimals: number): string {
  const text = String(digits).padStart(decimals + 1, '0');
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}

function fractionOf(text: string): string {
  return text.split('.')[1] ?? '';
}
