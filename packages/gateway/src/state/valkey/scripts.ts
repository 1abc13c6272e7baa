import { createHash } from 'node:crypto'

/** A Lua script, and its hash for calling it once the server knows it. */
export interface Script {
  readonly text: string
  readonly sha: string
}

function scriptOf(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/**
 * Takes tokens of a limit, or returns them if the amount is negative: `takeTokens` and `giveTokensBack` of
 * core/src/state/limit-state.ts, with the server's clock. Arguments: algorithm, limit, periodMs, burst,
 * anchorMs, amount. Returns granted, remaining, retryAfterMs and resetMs as texts, because numbers would lose
 * their fractions.
 */
export const LIMIT_SCRIPT = scriptOf(`
local algorithm, limit, period = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local burst, anchor, amount = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local at, used, before = 0, 0, 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local a, u, b = string.match(stored, '^(%S+) (%S+) (%S+)$')
  at, used, before = tonumber(a) or 0, tonumber(u) or 0, tonumber(b) or 0
elseif amount < 0 then
  return {'0', '0', '0', '0'}
end
local granted, there, retry, reset, keep = 0, 0, 0, 0, 0
if algorithm == 'gcra' then
  local token = period / limit
  local depth = burst * token
  if amount < 0 then
    at = at + amount * token
  else
    at = math.min(math.max(at, now), now + depth)
    there = math.min(burst, math.floor((depth - (at - now) + 0.001) / token))
    granted = math.max(0, math.min(amount, there))
    at = at + granted * token
    if granted < amount then retry = math.max(0, at - now - depth + token) end
    reset = at - now
  end
  keep = at - now
else
  local begin = anchor + math.floor((now - anchor) / period) * period
  if at ~= begin then
    if algorithm == 'sliding' and at == begin - period then before = used else before = 0 end
    at, used = begin, 0
  end
  local elapsed = now - at
  if amount < 0 then
    used = math.max(0, used + amount)
  else
    there = math.max(0, math.floor(limit - used - before * (1 - elapsed / period) + 0.000001))
    granted = math.max(0, math.min(amount, there))
    used = used + granted
    reset = period - elapsed
    if granted < amount then
      if algorithm == 'fixed' then retry = reset
      elseif used <= limit - 1 then retry = math.max(0, period * (1 - (limit - 1 - used) / before) - elapsed)
      else retry = reset + period * (1 - (limit - 1) / used) end
    end
  end
  keep = at + period - now
  if algorithm == 'sliding' then keep = keep + period end
end
if stored or granted > 0 then
  local state = string.format('%.17g %.17g %.17g', at, used, before)
  redis.call('SET', KEYS[1], state, 'PX', math.max(1, math.ceil(keep)))
end
return {
  string.format('%.0f', granted), string.format('%.0f', there - granted),
  string.format('%.17g', retry), string.format('%.17g', reset)
}
`)

/** Adds to a counter whose lifetime starts with the first addition. Arguments: amount, ttlMs. */
export const ADD_SCRIPT = scriptOf(`
local isThere = redis.call('EXISTS', KEYS[1]) == 1
if not isThere and ARGV[1] == '0' then return 0 end
local sum = redis.call('INCRBY', KEYS[1], ARGV[1])
if not isThere then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return sum
`)
