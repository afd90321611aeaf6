// Moves the clock of this process ahead by TONLAKE_BENCH_DAYS days, which may change, so that a bench of many days takes minutes.
const DAY_MS = 86_400_000;
const RealDate = Date;
const now = () => RealDate.now() + Number(process.env.TONLAKE_BENCH_DAYS ?? 0) * DAY_MS;

globalThis.Date = class MovedDate extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [now()] : parts));
  }

  static now() {
    return now();
  }
};
