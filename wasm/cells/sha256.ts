// SHA-256 of messages that are already padded to whole blocks of 64 bytes: one message, or four at once in the lanes of a vector.
// Addresses are not checked: callers pass only memory that they own.

/** Round constants. */
const K: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);

/** The state before the first block. */
const START: usize = memory.data<u32>([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);

/** Message schedule of one message. */
const schedule: usize = memory.data(64 * 4, 16);
/** The same for four messages; round constants, repeated in four lanes; and the states of the four. */
const schedules: usize = memory.data(64 * 16, 16);
const constants: usize = memory.data(64 * 16, 16);
const states: usize = memory.data(8 * 16, 16);

/** Fills the constants of `sha256x4`. */
export function sha256Init(): void {
  for (let i: usize = 0; i < 64; i++) v128.store(constants + (i << 4), i32x4.splat(load<i32>(K + (i << 2))));
}

/** Hashes `blocks` blocks at `from`; the 32 bytes go to `to`. */
export function sha256(from: usize, blocks: i32, to: usize): void {
  let A = load<u32>(START);
  let B = load<u32>(START, 4);
  let C = load<u32>(START, 8);
  let D = load<u32>(START, 12);
  let E = load<u32>(START, 16);
  let F = load<u32>(START, 20);
  let G = load<u32>(START, 24);
  let H = load<u32>(START, 28);
  for (; blocks > 0; blocks--, from += 64) {
    expand(from);
    let a = A;
    let b = B;
    let c = C;
    let d = D;
    let e = E;
    let f = F;
    let g = G;
    let h = H;
    for (let at: usize = 0; at < 256; at += 4) {
      const t1 =
        h +
        (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
        (g ^ (e & (f ^ g))) +
        load<u32>(K + at) +
        load<u32>(schedule + at);
      const t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    A += a;
    B += b;
    C += c;
    D += d;
    E += e;
    F += f;
    G += g;
    H += h;
  }
  store<u32>(to, bswap(A));
  store<u32>(to, bswap(B), 4);
  store<u32>(to, bswap(C), 8);
  store<u32>(to, bswap(D), 12);
  store<u32>(to, bswap(E), 16);
  store<u32>(to, bswap(F), 20);
  store<u32>(to, bswap(G), 24);
  store<u32>(to, bswap(H), 28);
}

function expand(from: usize): void {
  for (let i: usize = 0; i < 64; i += 4) store<u32>(schedule + i, bswap(load<u32>(from + i)));
  for (let at = schedule; at < schedule + 48 * 4; at += 4) {
    const late = load<u32>(at, 56);
    const early = load<u32>(at, 4);
    const s1 = rotr(late, 17) ^ rotr(late, 19) ^ (late >>> 10);
    const s0 = rotr(early, 7) ^ rotr(early, 18) ^ (early >>> 3);
    store<u32>(at, s1 + load<u32>(at, 36) + s0 + load<u32>(at), 64);
  }
}

/** Rotates each lane right. */
function turn(x: v128, by: i32): v128 {
  return v128.or(i32x4.shr_u(x, by), i32x4.shl(x, 32 - by));
}

/** Reverses the bytes of each lane. */
function swap(x: v128): v128 {
  return i8x16.shuffle(x, x, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
}

/** The first two, or the last two, lanes of both, alternating. */
function low(x: v128, y: v128): v128 {
  return i32x4.shuffle(x, y, 0, 4, 1, 5);
}
function high(x: v128, y: v128): v128 {
  return i32x4.shuffle(x, y, 2, 6, 3, 7);
}

/** The words of one block of each of four messages, and the schedule that follows from them. */
function expand4(p0: usize, p1: usize, p2: usize, p3: usize): void {
  for (let i: usize = 0; i < 64; i += 16) {
    const a = swap(v128.load(p0 + i));
    const b = swap(v128.load(p1 + i));
    const c = swap(v128.load(p2 + i));
    const d = swap(v128.load(p3 + i));
    const at = schedules + (i << 2);
    v128.store(at, low(low(a, c), low(b, d)));
    v128.store(at, high(low(a, c), low(b, d)), 16);
    v128.store(at, low(high(a, c), high(b, d)), 32);
    v128.store(at, high(high(a, c), high(b, d)), 48);
  }
  for (let at = schedules; at < schedules + 48 * 16; at += 16) {
    const late = v128.load(at, 14 * 16);
    const early = v128.load(at, 16);
    const s1 = v128.xor(v128.xor(turn(late, 17), turn(late, 19)), i32x4.shr_u(late, 10));
    const s0 = v128.xor(v128.xor(turn(early, 7), turn(early, 18)), i32x4.shr_u(early, 3));
    v128.store(at, i32x4.add(i32x4.add(s1, v128.load(at, 9 * 16)), i32x4.add(s0, v128.load(at))), 256);
  }
}

/** One block of each lane. */
function compress4(p0: usize, p1: usize, p2: usize, p3: usize): void {
  expand4(p0, p1, p2, p3);
  let a = v128.load(states);
  let b = v128.load(states, 16);
  let c = v128.load(states, 32);
  let d = v128.load(states, 48);
  let e = v128.load(states, 64);
  let f = v128.load(states, 80);
  let g = v128.load(states, 96);
  let h = v128.load(states, 112);
  for (let at: usize = 0; at < 1024; at += 16) {
    const s1 = v128.xor(v128.xor(turn(e, 6), turn(e, 11)), turn(e, 25));
    const choice = v128.xor(g, v128.and(e, v128.xor(f, g)));
    const word = i32x4.add(v128.load(schedules + at), v128.load(constants + at));
    const t1 = i32x4.add(i32x4.add(word, h), i32x4.add(s1, choice));
    const s0 = v128.xor(v128.xor(turn(a, 2), turn(a, 13)), turn(a, 22));
    const t2 = i32x4.add(v128.bitselect(c, b, v128.xor(a, b)), s0);
    h = g;
    g = f;
    f = e;
    e = i32x4.add(d, t1);
    d = c;
    c = b;
    b = a;
    a = i32x4.add(t1, t2);
  }
  v128.store(states, i32x4.add(a, v128.load(states)));
  v128.store(states, i32x4.add(b, v128.load(states, 16)), 16);
  v128.store(states, i32x4.add(c, v128.load(states, 32)), 32);
  v128.store(states, i32x4.add(d, v128.load(states, 48)), 48);
  v128.store(states, i32x4.add(e, v128.load(states, 64)), 64);
  v128.store(states, i32x4.add(f, v128.load(states, 80)), 80);
  v128.store(states, i32x4.add(g, v128.load(states, 96)), 96);
  v128.store(states, i32x4.add(h, v128.load(states, 112)), 112);
}

/** Writes the digests of the lanes that end after `done` blocks. */
function finish4(done: i32, n0: i32, n1: i32, n2: i32, n3: i32, o0: usize, o1: usize, o2: usize, o3: usize): void {
  for (let half: usize = 0; half < 2; half++) {
    const from = states + (half << 6);
    const a = swap(v128.load(from));
    const b = swap(v128.load(from, 16));
    const c = swap(v128.load(from, 32));
    const d = swap(v128.load(from, 48));
    const at = half << 4;
    if (n0 == done) v128.store(o0 + at, low(low(a, c), low(b, d)));
    if (n1 == done) v128.store(o1 + at, high(low(a, c), low(b, d)));
    if (n2 == done) v128.store(o2 + at, low(high(a, c), high(b, d)));
    if (n3 == done) v128.store(o3 + at, high(high(a, c), high(b, d)));
  }
}

/**
 * Hashes four messages: lane i has n_i blocks at p_i, and its digest goes to o_i. A lane that has ended repeats its first block, after its
 * digest was stored; a lane with n_i = 0 is never stored.
 */
export function sha256x4(
  p0: usize,
  p1: usize,
  p2: usize,
  p3: usize,
  n0: i32,
  n1: i32,
  n2: i32,
  n3: i32,
  o0: usize,
  o1: usize,
  o2: usize,
  o3: usize,
): void {
  for (let i: usize = 0; i < 8; i++) v128.store(states + (i << 4), i32x4.splat(load<i32>(START + (i << 2))));
  const most = max(max(n0, n1), max(n2, n3));
  for (let done = 1; done <= most; done++) {
    const at = (<usize>(done - 1)) << 6;
    compress4(
      p0 + (done <= n0 ? at : 0),
      p1 + (done <= n1 ? at : 0),
      p2 + (done <= n2 ? at : 0),
      p3 + (done <= n3 ? at : 0),
    );
    if (n0 == done || n1 == done || n2 == done || n3 == done) finish4(done, n0, n1, n2, n3, o0, o1, o2, o3);
  }
}
