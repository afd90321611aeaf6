import { untranslated } from './untranslated.ts';

/** Letters of Trino's `date_format`, which are MySQL's, by DuckDB's. */
const MYSQL: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'abdfHIjmpyYS%'].map((letter) => [letter, `%${letter}`])),
  i: '%M',
  s: '%S',
  T: '%H:%M:%S',
  e: '%-d',
  c: '%-m',
  k: '%-H',
  l: '%-I',
  h: '%I',
  M: '%B',
  W: '%A',
  r: '%I:%M:%S %p',
};

/** Letters of `format_datetime`, which are Joda's, by DuckDB's. */
const JODA: Readonly<Record<string, string>> = {
  yyyy: '%Y',
  yy: '%y',
  MM: '%m',
  MMM: '%b',
  MMMM: '%B',
  dd: '%d',
  d: '%-d',
  M: '%-m',
  HH: '%H',
  hh: '%I',
  mm: '%M',
  ss: '%S',
  EEE: '%a',
  EEEE: '%A',
  a: '%p',
};

export function dateFormat(format: string): string {
  return format.replace(/%(.)/g, (_all, letter: string) => known(MYSQL[letter], `%${letter}`));
}

export function jodaFormat(format: string): string {
  return format.replace(/''[^']+''|([A-Za-z])\1*/g, (letters) =>
    letters.startsWith("''") ? letters.slice(2, -2) : known(JODA[letters], letters),
  );
}

function known(translated: string | undefined, letters: string): string {
  if (translated !== undefined) return translated;
  throw untranslated(`${letters} in a time format`, "strftime(time, '%Y-%m-%d')");
}
