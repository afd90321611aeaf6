import { CATCH_UP_MS, WINDOW_MS } from '../pace.ts';
import { FILL, RECOVERY_PER_SECOND, SLOWEST_RPS } from '../rate.ts';
import { ADAPTIVE_SCRIPT } from './adaptive-script.ts';

/** A process that is silent for longer has no share any more. */
const SILENT_MS = 3000;
/** A limit that nobody uses is forgotten after a week. */
const STATE_TTL_MS = 7 * 86_400_000;
/** After a break, `auto` begins below the found limit. */
const BREAK_MS = 60_000;
/** Head start of a process whose turn it is, before others take a start that is due. */
const HEAD_START_MS = 15;

/** The clock of the server, in milliseconds; tests pass another. */
const SERVER_CLOCK = `local time = redis.call('TIME'); local clock = time[1] * 1000 + time[2] / 1000`;

/**
 * The shared rate limit in Redis: `Pace`, `FixedRate` and the turns of `Pool` as one atomic script, on one clock. A start is permitted for
 * now and never ahead, so a process that is killed takes nothing with it.
 *
 * KEYS: state, starts of the last second, log of starts, holders. ARGV: operation, then its arguments:
 *
 * - `take`: as many starts as are due, at most `wanted`, which may be none to stay known. Returns their times, and when to ask again.
 * - `slow`: the source answered 429 to the request that started at `started`, with a pause of `hold` milliseconds, or none.
 * - `leave`: the process ends.
 * - `status`: changes nothing.
 *
 * `epoch` names one life of the state. Callers tell the found limit, the rate and the pause that they
 * know, which count if they know another epoch: so nothing is lost when the server restarts empty.
 */
export function budgetScript(clock = SERVER_CLOCK): string {
  return `
local STATE, STARTS, LOG, HOLDERS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local LONG_AGO = -1e18
local function text(number) return string.format('%.3f', number) end
local function optional(argument) return argument ~= '' and tonumber(argument) or nil end
${clock}
${ADAPTIVE_SCRIPT}
local packed = redis.call('GET', STATE)
local state = packed and cmsgpack.unpack(packed)
if not state then
  state = { epoch = text(clock), offset = 0, last = 0, due = LONG_AGO, held = LONG_AGO, fixed = { slowedAt = LONG_AGO } }
end
-- The clock of a server can be set back, or be that of another server after a failover.
local now = tonumber(text(clock + state.offset))
if now < state.last then
  state.offset = state.offset + state.last - now
  now = state.last
end
state.last = now

${RATE_SCRIPT}
${HOLDERS_SCRIPT}
${OPERATIONS_SCRIPT}`;
}

/** `FixedRate` and `Pace`. */
const RATE_SCRIPT = `
local function rate()
  if state.isAuto then return state.auto.rps end
  local fixed = state.fixed
  if not fixed.cap then return math.huge end
  if fixed.rate == fixed.cap then return fixed.cap end
  return math.min(fixed.cap, fixed.rate + fixed.cap * ${RECOVERY_PER_SECOND} * (now - fixed.slowedAt) / 1000)
end
local function gap_of(rps) return 1000 / (rps * ${FILL}) end
local function next_start()
  local oldest = redis.call('LINDEX', STARTS, -math.ceil(rate()))
  return math.max(state.held, state.due, oldest and tonumber(oldest) + ${WINDOW_MS} or LONG_AGO)
end
local function record_start(at)
  if state.isAuto then auto_start(state.auto, at) end
  local rps = rate()
  state.due = (at - state.due <= ${CATCH_UP_MS} and state.due or at) + gap_of(rps)
  state.lastStart = at
  redis.call('RPUSH', STARTS, text(at))
  redis.call('LTRIM', STARTS, -4 * math.ceil(rps) - 64, -1)
  redis.call('PEXPIRE', STARTS, 60000)
end
local function resume()
  local rps = rate()
  redis.call('DEL', STARTS)
  for back = math.ceil(rps) - 1, 0, -1 do redis.call('RPUSH', STARTS, text(now - back * gap_of(rps))) end
  redis.call('PEXPIRE', STARTS, 60000)
  state.due, state.lastStart = now + gap_of(rps), now
end
local function fixed_slow(started)
  local fixed = state.fixed
  if started >= fixed.slowedAt then
    fixed.rate = math.max(math.min(${SLOWEST_RPS}, fixed.cap), rate() / 2)
    fixed.slowedAt = now
  end
  return gap_of(fixed.rate)
end
local function retune(cap)
  local fixed = state.fixed
  if cap == fixed.cap then return end
  fixed.rate = cap and fixed.cap and fixed.rate / fixed.cap * cap or cap
  fixed.cap = cap
end
`;

/** The processes that share the limit, and the rate that follows from them: the highest of any, or adaptive if one has `auto`. */
const HOLDERS_SCRIPT = `
local holders, alive = {}, 0
local function read_holders()
  local all = redis.call('HGETALL', HOLDERS)
  for index = 1, #all, 2 do
    local holder = cmsgpack.unpack(all[index + 1])
    if now - holder.seen <= ${SILENT_MS} then
      holders[all[index]] = holder
      alive = alive + 1
    elseif ARGV[1] ~= 'status' then
      redis.call('HDEL', HOLDERS, all[index])
    end
  end
end
local function tune()
  local isAuto, highest = false, nil
  for _, holder in pairs(holders) do
    if holder.rps == 'auto' then isAuto = true
    else highest = math.max(highest or 0, tonumber(holder.rps)) end
  end
  if isAuto and not state.auto then state.auto = new_auto(nil, highest) end
  state.isAuto = isAuto
  retune(highest)
end
-- Processes whose turn comes before: of higher priority, or of the same and served longer ago.
local function ahead_of(id)
  local own, count = holders[id], 0
  for other, holder in pairs(holders) do
    if other ~= id and holder.waiting > 0 and holder.notBefore <= now then
      if holder.priority < own.priority
        or (holder.priority == own.priority and (holder.served < own.served or (holder.served == own.served and other < id)))
      then count = count + 1 end
    end
  end
  return count
end
local function save_holder(id) redis.call('HSET', HOLDERS, id, cmsgpack.pack(holders[id])) end
local function save()
  redis.call('SET', STATE, cmsgpack.pack(state), 'PX', ${STATE_TTL_MS})
  redis.call('PEXPIRE', HOLDERS, 60000)
end
`;

const OPERATIONS_SCRIPT = `
local function answer(starts, wait)
  local shown = rate()
  return {
    state.epoch, text(wait), shown == math.huge and '' or text(shown), state.auto and state.auto.found and text(state.auto.found) or '',
    text(math.max(0, state.held - now)), starts,
  }
end
-- What a caller knows of an earlier life of the state.
local function merge_memory(epoch, found, rps, hold)
  if epoch == '' or epoch == state.epoch then return end
  if state.isAuto and not state.auto.found and (found or rps) then
    state.auto.found = found
    state.auto.rps = math.max(state.auto.rps, rps or 0)
  end
  if not state.lastStart then resume() end
  if hold > 0 then state.held = math.max(state.held, now + hold) end
end
local function take(id, wanted, priority, rps, label, epoch, found, known, hold)
  if alive == 0 and state.auto and now - (state.lastStart or now) > ${BREAK_MS} then
    state.auto = new_auto(state.auto.found, nil)
    redis.call('DEL', LOG)
  end
  local holder = holders[id]
  if not holder then
    holder = { served = LONG_AGO, notBefore = LONG_AGO }
    holders[id] = holder
  end
  holder.seen, holder.waiting, holder.priority, holder.rps = now, wanted, priority, rps
  if label ~= '' then holder.label = label end
  tune()
  merge_memory(epoch, found, known, hold)
  local starts, wait = {}, 0
  while wanted > 0 do
    local free = math.max(holder.notBefore, next_start() + ahead_of(id) * math.min(gap_of(rate()), ${HEAD_START_MS}))
    if free > now then
      wait = free - now
      break
    end
    local at = math.max(now, (state.lastStart or 0) + 0.001)
    record_start(at)
    table.insert(starts, text(at))
    wanted = wanted - 1
    holder.waiting, holder.served = wanted, at
    if rps ~= 'auto' and tonumber(rps) < rate() then holder.notBefore = at + gap_of(tonumber(rps)) end
  end
  if wanted == 0 then wait = math.max(0, holder.notBefore - now, next_start() - now) end
  save_holder(id)
  save()
  return answer(starts, wait)
end

read_holders()
local operation = ARGV[1]
if operation == 'take' then
  return take(ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7], optional(ARGV[8]), optional(ARGV[9]), tonumber(ARGV[10]))
end
if operation == 'slow' then
  tune()
  local started, hold = tonumber(ARGV[2]), optional(ARGV[3])
  local own = 0
  if state.isAuto then own = auto_slow(state.auto, started, now)
  elseif state.fixed.cap then own = fixed_slow(started) end
  state.held = math.max(state.held, now + (hold or own))
  state.slowedAt = now
  save()
  return answer({}, 0)
end
if operation == 'leave' then
  redis.call('HDEL', HOLDERS, ARGV[2])
  return answer({}, 0)
end
local shown, list = rate(), {}
for id, holder in pairs(holders) do
  table.insert(list, { id = id, label = holder.label or '', rps = holder.rps, priority = holder.priority, waiting = holder.waiting })
end
return cjson.encode({
  rps = alive > 0 and shown ~= math.huge and shown or nil, cap = alive > 0 and not state.isAuto and state.fixed.cap or nil,
  found = state.auto and state.auto.found or nil, last429 = state.slowedAt and state.slowedAt - state.offset or nil,
  heldMs = math.max(0, state.held - now), holders = #list > 0 and list or nil,
})`;
