/**
 * The Lua of the store, one script per verb, each over the keys of one shard and over all of a batch at once.
 * All are atomic, take the server's own time, and name every key they touch in KEYS.
 *
 * A receipt is one string: state (a letter), `until` (13 digits; dashes: never), `epoch` (16), `createdAt` (13),
 * `at` (13), and then four lines: the token, its terms, whose it is, its outcome. The scripts read no further than
 * the token. Every change is also in the journal, which is the audit log: a stream whose entries hold, per event, a
 * line with microseconds (16), epoch (16) and whose it is, and a line with the note. A claim and a swap write
 * nothing else; the indexes are brought up to date from the journal by whoever needs them (INDEX).
 *
 * What a claim or a swap brings is one argument for the whole batch, because that is what clients send fastest.
 * Per receipt: a line with state, epoch, createdAt (dashes: to be stamped), duration and length of the outcome;
 * token; terms; whose it is; note; and the outcome. A swap has a line more in front: the state, `until` where it
 * counts, and the token that are expected.
 */
import { createHash } from 'node:crypto'

export interface Script {
  readonly sha: string
  readonly text: string
}

/** Microseconds and milliseconds, as digits of fixed length: they compare and cut as text. */
const CLOCK = `
local sub, call = string.sub, redis.call
local time = call('TIME')
local us = time[1] .. sub('00000' .. time[2], -6)
local now = sub(us, 1, 13)
`

const BATCH = `
local find, batch, from = string.find, ARGV[1], 1
local untils, lengths = {}, {}
`

/** In a loop: what the batch says of the next receipt. Durations and lengths come again and again. */
const NEXT = `
  local head = find(batch, '\\n', from, true)
  local spec = sub(batch, from + 30, head - 1)
  local untilText = untils[spec]
  if not untilText then
    local comma = find(spec, ',', 1, true)
    untilText = comma == 1 and '-------------' or string.format('%013.0f', now + sub(spec, 1, comma - 1))
    untils[spec] = untilText
    lengths[spec] = tonumber(sub(spec, comma + 1))
  end
  local state, epoch = sub(batch, from, from), sub(batch, from + 1, from + 16)
  local created = sub(batch, from + 17, from + 29)
  local second = find(batch, '\\n', find(batch, '\\n', head + 1, true) + 1, true)
  local third = find(batch, '\\n', second + 1, true)
  local last = find(batch, '\\n', third + 1, true)
  local length = lengths[spec]
  local lines, event = sub(batch, head + 1, third), sub(batch, second + 1, last)
  from = last + length + 1
`

/** The text of the receipt that the batch told of, stamped. */
const VALUE = `state .. untilText .. epoch .. created .. now .. lines .. sub(batch, last + 1, last + length)`

/** An entry is kept short, so that a purge can drop one without dropping much more than it was asked to. */
const journal = (key: string): string => `
local events, logged = {}, 0
local function flush()
  call('XADD', ${key}, '*', 'e', table.concat(events, '', 1, logged))
  logged = 0
end
`
const LOG = `
    events[logged + 1] = us
    events[logged + 2] = epoch
    events[logged + 3] = event
    logged = logged + 3
    if logged == 96 then flush() end
`

/**
 * KEYS: journal, floor, receipts. ARGV: the batch.
 * Answers: now, then per receipt its epoch, or what is there.
 */
export const CLAIM = script(`${CLOCK}${BATCH}${journal('KEYS[1]')}
local found = call('MGET', unpack(KEYS, 2))
local newEpoch = us
if found[1] and found[1] >= us then newEpoch = string.format('%016.0f', found[1] + 1) end
local answer, fresh, writes = { now }, {}, {}
for i = 2, #found do
${NEXT}
  local key = KEYS[i + 1]
  local there = found[i] or fresh[key]
  if there then
    answer[i] = there
  else
    if sub(epoch, 1, 1) == '-' then epoch = newEpoch end
    if sub(created, 1, 1) == '-' then created = now end
    local value = ${VALUE}
    local n = #writes
    fresh[key] = value
    writes[n + 1] = key
    writes[n + 2] = value
${LOG}
    answer[i] = epoch
  end
end
if #writes > 0 then
  call('MSET', unpack(writes))
  if logged > 0 then flush() end
end
return answer
`)

/**
 * KEYS: journal, receipts. ARGV: the batch, and the channel.
 * Answers: now, then per receipt its epoch, or nothing where no swap was made.
 */
export const SWAP = script(`${CLOCK}${BATCH}${journal('KEYS[1]')}
local found = call('MGET', unpack(KEYS, 2))
local answer, fresh, written, ended = { now }, {}, {}, {}
for i = 1, #found do
  local key = KEYS[i + 1]
  local there = fresh[key] or found[i]
  local stop = find(batch, '\\n', from, true)
  local quote = sub(batch, from + 1, from + 1) == '"' and from + 1 or from + 14
  local as, token = sub(batch, from, quote - 1), sub(batch, quote, stop)
  from = stop + 1
${NEXT}
  if there and sub(there, 1, #as) == as and sub(there, 57, 56 + #token) == token then
    if sub(epoch, 1, 1) == '-' then
      epoch = us
      local last = sub(there, 15, 30)
      if last >= us then epoch = string.format('%016.0f', last + 1) end
    end
    if sub(created, 1, 1) == '-' then created = now end
    if not fresh[key] then written[#written + 1] = key end
    fresh[key] = ${VALUE}
${LOG}
    if state ~= 'p' and sub(as, 1, 1) == 'p' then ended[#ended + 1] = sub(key, -22) end
    answer[i + 1] = epoch
  else
    answer[i + 1] = ''
  end
end
if #written > 0 then
  local writes = {}
  for i = 1, #written do
    writes[i * 2 - 1] = written[i]
    writes[i * 2] = fresh[written[i]]
  end
  call('MSET', unpack(writes))
  if logged > 0 then flush() end
  if #ended > 0 then call('PUBLISH', ARGV[2], table.concat(ended)) end
end
return answer
`)

/** KEYS: journal (which says where), receipts. Answers: now, then each receipt. */
export const GET = script(`${CLOCK}
if #KEYS == 1 then return { now } end
local answer = call('MGET', unpack(KEYS, 2))
table.insert(answer, 1, now)
return answer
`)

/** KEYS: journal. ARGV: two per event: its epoch; whose it is, and the note. */
export const RECORD = script(`${CLOCK}${journal('KEYS[1]')}
for i = 1, #ARGV, 2 do
    local epoch, event = ARGV[i], ARGV[i + 1]
${LOG}
end
if logged > 0 then flush() end
return { now }
`)

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
    all[#all + 1] = sub(there, 31, 43)
    all[#all + 1] = id
  end
end
local function remove(key, ids)
  if #ids > 0 then call('ZREM', key, unpack(ids)) end
end
if #open > 0 then call('ZADD', KEYS[1], unpack(open)) end
if #ends > 0 then call('ZADD', KEYS[2], unpack(ends)) end
if #all > 0 then call('ZADD', KEYS[3], 'NX', unpack(all)) end
remove(KEYS[1], notOpen)
remove(KEYS[2], notEnding)
for i = 1, 3 do remove(KEYS[i], gone) end
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
    local _, lines = string.gsub(entries[i][2][2], '\\n', '')
    -- A single entry can hold more events than were asked for: it goes as a whole, or it would never go.
    if dropped > 0 and dropped + lines / 2 > most then break end
    dropped = dropped + lines / 2
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
export const PURGE = script(`${CLOCK}${journal('KEYS[3]')}
local find = string.find
local found = call('MGET', unpack(KEYS, 4))
local floor = found[1] or ''
local keys, ids = {}, {}
for i = 2, #found do
  local there = found[i]
  local state, untilText = sub(there or 'p', 1, 1), sub(there or '', 2, 14)
  local isOver = state ~= 'p' and state ~= 'u' and sub(untilText, 1, 1) ~= '-' and untilText <= now
  if isOver and (not ARGV[i] or ARGV[i] == sub(there, 15, 30)) then
    local key, epoch = KEYS[i + 3], sub(there, 15, 30)
    if epoch > floor then floor = epoch end
    keys[#keys + 1] = key
    ids[#ids + 1] = sub(key, -22)
    local second = find(there, '\\n', find(there, '\\n', 57, true) + 1, true)
    local event = sub(there, second + 1, find(there, '\\n', second + 1, true)) .. ARGV[1]
${LOG}
  end
end
if #keys > 0 then
  call('UNLINK', unpack(keys))
  call('ZREM', KEYS[1], unpack(ids))
  call('ZREM', KEYS[2], unpack(ids))
  call('SET', KEYS[4], floor)
  if logged > 0 then flush() end
end
return { tostring(#keys) }
`)

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
