/**
 * The Lua of what is done in the background, or for a list: indexing, finding what is due, forgetting. A full server
 * refuses a script whose first write may need memory, and would stay full if it refused these: so each takes away
 * before it adds, INDEX also what is not there.
 */
import { CLOCK, journal, KEPT, LOG, script } from './scripts.js'

/**
 * KEYS: open, ends, all, indexed, receipts that the journal tells of. ARGV: the last entry that was indexed, and the
 * one up to which this goes. Puts each where it belongs by what it is now. Answers 1, or 0 if others were faster.
 */
export const INDEX = script(`
local call, sub = redis.call, string.sub
if (call('GET', KEYS[4]) or '') ~= ARGV[1] then return { '0' } end
local found = #KEYS > 4 and call('MGET', unpack(KEYS, 5)) or {}
local open, ends, all, notOpen, notEnding, gone = {}, {}, {}, {}, {}, {}
for i = 1, #found do
  local there, id = found[i], sub(KEYS[i + 4], -22)
  if not there then
    gone[#gone + 1] = id
  else
    local state, untilText = sub(there, 1, 1), sub(there, 2, 14)
    local never = sub(untilText, 1, 1) == '-'
    local isOpen = state == 'p' or state == 'u'
    if isOpen then
      open[#open + 1] = never and '+inf' or untilText
      open[#open + 1] = id
    else
      notOpen[#notOpen + 1] = id
    end
    if not isOpen and not never then
      ends[#ends + 1] = untilText
      ends[#ends + 1] = id
    else
      notEnding[#notEnding + 1] = id
    end
    all[#all + 1] = sub(there, 44, 56)
    all[#all + 1] = id
  end
end
local function remove(key, ids)
  if #ids > 0 then call('ZREM', key, unpack(ids)) end
end
remove(KEYS[1], notOpen)
remove(KEYS[2], notEnding)
for i = 1, 3 do remove(KEYS[i], gone) end
if #open > 0 then call('ZADD', KEYS[1], unpack(open)) end
if #ends > 0 then call('ZADD', KEYS[2], unpack(ends)) end
if #all > 0 then call('ZADD', KEYS[3], 'NX', unpack(all)) end
call('SET', KEYS[4], ARGV[2])
return { '1' }
`)

/**
 * KEYS: ends, journal, indexed. ARGV: how many receipts, how many events, how long events are kept.
 * Drops old events that the indexes know. Answers: how many, then the receipts whose time has come.
 */
export const DUE = script(`${CLOCK}
local most, last, indexed = tonumber(ARGV[2]), now - ARGV[3] - 1, call('GET', KEYS[3])
local dropped, old = 0, {}
if indexed and last >= 0 and most > 0 then
  local to = string.format('%.0f', last)
  if tonumber(string.match(indexed, '^%d+')) <= last then to = indexed end
  local entries = call('XRANGE', KEYS[2], '-', to, 'COUNT', most)
  for i = 1, #entries do
    -- An entry goes as a whole, also past what was asked for: who gets less than that believes that all is done.
    if dropped >= most then break end
    local fields = entries[i][2]
    local events = #fields - (fields[#fields] == '' and 3 or 2)
    dropped = dropped + events
    old[i] = entries[i][1]
  end
  if #old > 0 then call('XDEL', KEYS[2], unpack(old)) end
end
local answer = { string.format('%.0f', dropped) }
if ARGV[1] ~= '0' then
  local due = call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
  for i = 1, #due do answer[i + 1] = due[i] end
end
return answer
`)

/**
 * KEYS: ends, all, journal, floor, receipts. ARGV: the note, and, where only certain claims are meant, their epochs.
 * Forgets those that are settled or released and have ended by now. Answers how many. The floor keeps their epochs
 * from coming again.
 */
export const PURGE = script(`${CLOCK}
local note = ARGV[1]
${journal('KEYS[3]')}
local found = call('MGET', unpack(KEYS, 4))
local floor = found[1] or ''
local keys, ids, told = {}, {}, {}
for i = 2, #found do
  local there = found[i]
  local state, untilText = sub(there or 'p', 1, 1), sub(there or '', 2, 14)
  local isOver = state ~= 'p' and state ~= 'u' and sub(untilText, 1, 1) ~= '-' and untilText <= now
  if isOver and (not ARGV[i] or ARGV[i] == sub(there, 28, 43)) then
    local key, epoch = KEYS[i + 3], sub(there, 28, 43)
    if epoch > floor then floor = epoch end
    keys[#keys + 1] = key
    ids[#ids + 1] = sub(key, -22)
    told[#told + 1] = ${KEPT}
  end
end
if #keys > 0 then
  call('UNLINK', unpack(keys))
  call('ZREM', KEYS[1], unpack(ids))
  call('ZREM', KEYS[2], unpack(ids))
  call('SET', KEYS[4], floor)
  for i = 1, #told do
    local kept = told[i]
${LOG}
  end
  if logged > 0 then flush() end
end
return { tostring(#keys) }
`)
