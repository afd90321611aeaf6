import { ADAPTIVE } from '../adaptive-rate.ts';
import { FILL } from '../rate.ts';
import { KEPT_STARTS } from '../request-log.ts';

const { STEP, GROWTH, PROBE, REACH_MS, REPEAT_CUTS } = ADAPTIVE;

/**
 * `AdaptiveRate` and its `RequestStartLog` in Lua: the same state, steps and constants. A test plays the same requests and refusals to both.
 *
 * `auto` is the state; `LOG` names a sorted set of start times.
 */
export const ADAPTIVE_SCRIPT = `
local function log_since(from) return redis.call('ZCOUNT', LOG, '(' .. text(from), '+inf') end
local function log_bound(till)
  local most, count = 0, 0
  for _, start in ipairs(redis.call('ZREVRANGEBYSCORE', LOG, text(till), '-inf')) do
    count = count + 1
    most = math.max(most, count / ((till - tonumber(start)) / 1000 + 1))
  end
  return most
end
local function log_reach(till)
  local first = redis.call('ZRANGE', LOG, 0, 0)[1]
  return first and till - tonumber(first) or 0
end

local function new_auto(found, rps)
  return {
    found = found, rps = rps or math.max(${ADAPTIVE.FIRST_RPS}, (found or 0) * ${ADAPTIVE.REMEMBERED_SHARE}),
    quietSince = LONG_AGO, slowedAt = LONG_AGO, repeats = 0, raise = ${PROBE.firstRaise}, waitMs = ${PROBE.firstWaitMs},
  }
end

local function auto_step_up(auto, now, elapsed)
  if not auto.found then
    auto.rps = auto.rps * (auto.rps < ${GROWTH.slowBelowRps} and ${GROWTH.low} or ${GROWTH.high})
    return
  end
  if auto.rps < auto.found then
    auto.rps = math.min(auto.found, auto.rps + auto.found * ${ADAPTIVE.RECOVERY_PER_SECOND} * elapsed / 1000)
    auto.quietSince = now
    return
  end
  local pause = auto.rps > auto.found and ${PROBE.stepMs} or auto.waitMs
  if now - auto.quietSince < pause then return end
  auto.quietSince = now
  auto.rps = auto.rps * (1 + auto.raise)
  auto.raise = math.min(${PROBE.lastRaise}, 2 * auto.raise)
  if auto.rps > auto.found * ${ADAPTIVE.OUTGROWN} then auto.found = nil end
end

local function auto_start(auto, now)
  redis.call('ZADD', LOG, text(now), text(now))
  if redis.call('ZCARD', LOG) > ${2 * KEPT_STARTS} then redis.call('ZREMRANGEBYRANK', LOG, 0, -${KEPT_STARTS + 1}) end
  redis.call('PEXPIRE', LOG, 3600000)
  auto.steppedAt = auto.steppedAt or now
  if auto.quietSince == LONG_AGO then auto.quietSince = now end
  local elapsed = now - auto.steppedAt
  if elapsed < math.max(${STEP.ms}, ${STEP.starts * 1000} / auto.rps) then return end
  local used = log_since(auto.steppedAt) >= ${ADAPTIVE.LEAST_USE * FILL} * auto.rps * elapsed / 1000
  auto.steppedAt = now
  if used then auto_step_up(auto, now, elapsed) end
end

local function auto_cut_again(auto)
  local cuts = { ${REPEAT_CUTS.join(', ')} }
  auto.rps = math.max(${ADAPTIVE.SLOWEST_RPS}, auto.rps * cuts[math.min(auto.repeats + 1, #cuts)])
  auto.repeats = auto.repeats + 1
  if auto.repeats > 1 then
    redis.call('DEL', LOG)
    auto.found = auto.rps
    auto.waitMs = ${PROBE.firstWaitMs}
  end
  return math.min(${ADAPTIVE.LONGEST_HOLD_MS}, ${ADAPTIVE.HOLD_MS} * 2 ^ auto.repeats)
end

local function auto_estimate(auto, started)
  local reach = log_reach(started)
  if auto.found and reach < ${REACH_MS.full} then return math.min(auto.found, auto.rps) * 0.95 end
  if reach < ${REACH_MS.least} then return auto.rps * 0.8 end
  return math.min(math.max(log_bound(started), auto.rps * 0.3), auto.rps * 0.97)
end

local function auto_slow(auto, started, now)
  redis.call('ZREM', LOG, text(started))
  if started < auto.slowedAt then return 0 end
  local again = now - auto.slowedAt < ${ADAPTIVE.REPEAT_MS}
  auto.slowedAt, auto.steppedAt, auto.quietSince = now, now, now
  auto.raise = ${PROBE.firstRaise}
  if again then return auto_cut_again(auto) end
  auto.repeats = 0
  local limit, before = auto_estimate(auto, started), auto.found
  local same = before and math.abs(limit - before) <= before * ${ADAPTIVE.SAME_LIMIT}
  auto.waitMs = same and math.min(2 * auto.waitMs, ${PROBE.longestWaitMs}) or ${PROBE.firstWaitMs}
  auto.found = math.max(${ADAPTIVE.SLOWEST_RPS}, limit)
  auto.rps = auto.found
  return ${ADAPTIVE.HOLD_MS}
end
`;
