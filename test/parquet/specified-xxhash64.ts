const P1 = 11400714785074694791n;
const P2 = 14029467366897019727n;
const P3 = 1609587929392839161n;
const P4 = 9650029242287828579n;
const P5 = 2870177450012600261n;
const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint): bigint => u64(value << bits) | (value >> (64n - bits));
const round = (lane: bigint, word: bigint): bigint => u64(rotate(u64(lane + word * P2), 31n) * P1);

/** The specification of xxHash64 with seed 0, word for word, in bigints. */
export function specified(bytes: Buffer): bigint {
  let at = 0;
  let h: bigint = P5;
  if (bytes.length >= 32) {
    const lanes = [u64(P1 + P2), P2, 0n, u64(-P1)];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i] ?? 0n, bytes.readBigUInt64LE(at + i * 8));
    }
    h = u64(lanes.reduce((sum, lane, i) => sum + rotate(lane, [1n, 7n, 12n, 18n][i] ?? 0n), 0n));
    for (const lane of lanes) h = u64((h ^ round(0n, lane)) * P1 + P4);
  }
  h = u64(h + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) h = u64(rotate(h ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * P1 + P4);
  if (at + 4 <= bytes.length) {
    h = u64(rotate(h ^ u64(BigInt(bytes.readUInt32LE(at)) * P1), 23n) * P2 + P3);
    at += 4;
  }
  for (; at < bytes.length; at++) h = u64(rotate(h ^ u64(BigInt(bytes[at] ?? 0) * P5), 11n) * P1);
  h = u64((h ^ (h >> 33n)) * P2);
  h = u64((h ^ (h >> 29n)) * P3);
  return h ^ (h >> 32n);
}
