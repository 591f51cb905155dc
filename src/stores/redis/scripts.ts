/**
 * The Lua of the store, one script per verb, each over the keys of one shard and over all of a batch at once.
 * All are atomic, take the server's own time, and name every key they touch in KEYS.
 *
 * A receipt is one string: state (a letter), `until` (13 digits; dashes: never), `epoch` (16), `createdAt` (13),
 * `at` (13), its place in the list of all receipts up to a semicolon, and four lines: the token, whose it is, its
 * terms, its outcome. The scripts read no further than the token, and copy the line that says whose it is.
 * An audit event is: microseconds (16), epoch (16), the line that says whose it is, and a line with the note.
 */
import { createHash } from 'node:crypto'

export interface Script {
  readonly sha: string
  readonly text: string
}

const CLOCK = `
local time = redis.call('TIME')
local us = time[1] * 1000000 + time[2]
local now = math.floor(us / 1000)
local usText = string.format('%016.0f', us)
local nowText = string.format('%013.0f', now)
`

/**
 * 'open' is the index of receipts that somebody has to do something about, 'ends' of those that wait to be
 * forgotten; both by `until`. They are brought up to date once per batch, with where each receipt came to stand.
 */
const INDEXES = `
local NEVER = '-------------'
local untilTexts = {}
local function untilOf(spec)
  local text = untilTexts[spec]
  if not text then
    local forMs = string.sub(spec, 2)
    text = forMs == '' and NEVER or string.format('%013.0f', now + forMs)
    untilTexts[spec] = text
  end
  return text
end

local ids, open, ends, left = {}, {}, {}, {}
local function place(id, state, untilText)
  if open[id] == nil then ids[#ids + 1] = id end
  local isOpen = state == 'p' or state == 'u'
  open[id] = isOpen and (untilText == NEVER and '+inf' or untilText)
  ends[id] = not isOpen and untilText ~= NEVER and untilText
end

local function bring(key, places, from)
  local add, remove = {}, {}
  for i = 1, #ids do
    local id = ids[i]
    if places[id] then
      add[#add + 1] = places[id]
      add[#add + 1] = id
    elseif left[id] == from then
      remove[#remove + 1] = id
    end
  end
  if #add > 0 then redis.call('ZADD', key, unpack(add)) end
  if #remove > 0 then redis.call('ZREM', key, unpack(remove)) end
end
`

/**
 * KEYS: open, ends, all, audit, floor, receipts. ARGV: six per receipt, see `draftArgs`.
 * Answers: now, then per receipt its epoch, or what is there.
 */
export const CLAIM = script(`${CLOCK}${INDEXES}
local epochText = string.format('%016.0f', math.max(us, (redis.call('GET', KEYS[5]) or 0) + 1))
local found = redis.call('MGET', unpack(KEYS, 6))
local answer, fresh, writes = { nowText }, {}, {}
for i = 1, #found do
  local key = KEYS[i + 5]
  local there = found[i] or fresh[key]
  if there then
    answer[i + 1] = there
  else
    local a = i * 6 - 5
    local id = string.sub(key, -22)
    local state = string.sub(ARGV[a], 1, 1)
    local untilText = untilOf(ARGV[a])
    local epoch, created = epochText, nowText
    local stamps = ARGV[a + 1]
    if stamps ~= '' then
      if string.sub(stamps, 1, 1) ~= '-' then epoch = string.sub(stamps, 1, 16) end
      if string.sub(stamps, 17, 17) ~= '-' then created = string.sub(stamps, 17) end
    end
    local subject = ARGV[a + 3]
    local spot = redis.call('XADD', KEYS[3], '*', 'i', id)
    local value = state .. untilText .. epoch .. created .. nowText .. spot .. ';'
      .. ARGV[a + 2] .. '\\n' .. subject .. '\\n' .. ARGV[a + 4]
    fresh[key] = value
    writes[#writes + 1] = key
    writes[#writes + 1] = value
    place(id, state, untilText)
    if ARGV[a + 5] ~= '' then
      redis.call('XADD', KEYS[4], '*', 'e', usText .. epoch .. subject .. '\\n' .. ARGV[a + 5])
    end
    answer[i + 1] = epoch
  end
end
if #writes > 0 then
  redis.call('MSET', unpack(writes))
  bring(KEYS[1], open, 'open')
  bring(KEYS[2], ends, 'ends')
end
return answer
`)

/**
 * KEYS: open, ends, audit, receipts. ARGV: eight per receipt, see `swapArgs`, then the channel.
 * Answers: now, then per receipt its epoch, or nothing where no swap was made.
 */
export const SWAP = script(`${CLOCK}${INDEXES}
local found = redis.call('MGET', unpack(KEYS, 4))
local answer, fresh, written, ended = { nowText }, {}, {}, {}
for i = 1, #found do
  local key = KEYS[i + 3]
  local a = i * 8 - 7
  local there = fresh[key] or found[i]
  local as, token = ARGV[a], ARGV[a + 1]
  local semicolon = there and string.sub(there, 1, #as) == as and string.find(there, ';', 57, true)
  if semicolon and string.sub(there, semicolon + 1, semicolon + #token + 1) == token .. '\\n' then
    local id = string.sub(key, -22)
    local before, state = string.sub(as, 1, 1), string.sub(ARGV[a + 2], 1, 1)
    local untilText = untilOf(ARGV[a + 2])
    local epoch, created
    local stamps = ARGV[a + 3]
    if stamps ~= '' and string.sub(stamps, 1, 1) ~= '-' then
      epoch = string.sub(stamps, 1, 16)
    else
      epoch = string.format('%016.0f', math.max(us, string.sub(there, 15, 30) + 1))
    end
    if stamps ~= '' and string.sub(stamps, 17, 17) ~= '-' then created = string.sub(stamps, 17) else created = nowText end
    local subject = ARGV[a + 5]
    if not fresh[key] then
      written[#written + 1] = key
      left[id] = (before == 'p' or before == 'u') and 'open' or 'ends'
    end
    fresh[key] = state .. untilText .. epoch .. created .. nowText .. string.sub(there, 57, semicolon)
      .. ARGV[a + 4] .. '\\n' .. subject .. '\\n' .. ARGV[a + 6]
    place(id, state, untilText)
    if ARGV[a + 7] ~= '' then
      redis.call('XADD', KEYS[3], '*', 'e', usText .. epoch .. subject .. '\\n' .. ARGV[a + 7])
    end
    if before == 'p' and state ~= 'p' then ended[#ended + 1] = id end
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
  redis.call('MSET', unpack(writes))
  bring(KEYS[1], open, 'open')
  bring(KEYS[2], ends, 'ends')
  if #ended > 0 then redis.call('PUBLISH', ARGV[#ARGV], table.concat(ended)) end
end
return answer
`)

/** KEYS: open (which says where), receipts. Answers: now, then each receipt. */
export const GET = script(`${CLOCK}
if #KEYS == 1 then return { nowText } end
local answer = redis.call('MGET', unpack(KEYS, 2))
table.insert(answer, 1, nowText)
return answer
`)

/** KEYS: audit. ARGV: three per event: its epoch, whose it is, the note. */
export const RECORD = script(`${CLOCK}
for i = 1, #ARGV, 3 do
  redis.call('XADD', KEYS[1], '*', 'e', usText .. ARGV[i] .. ARGV[i + 1] .. '\\n' .. ARGV[i + 2])
end
return { nowText }
`)

/**
 * KEYS: ends, audit. ARGV: how many receipts, how many events, how long events are kept.
 * Drops old events. Answers: how many, then the receipts whose time has come.
 */
export const DUE = script(`${CLOCK}
local old = {}
local last = now - ARGV[3] - 1
if last >= 0 and ARGV[2] ~= '0' then
  local events = redis.call('XRANGE', KEYS[2], '-', string.format('%.0f', last), 'COUNT', ARGV[2])
  for i = 1, #events do old[i] = events[i][1] end
  if #old > 0 then redis.call('XDEL', KEYS[2], unpack(old)) end
end
local answer = { tostring(#old) }
if ARGV[1] ~= '0' then
  local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
  for i = 1, #due do answer[i + 1] = due[i] end
end
return answer
`)

/**
 * KEYS: ends, all, audit, floor, receipts. ARGV: the note, empty for none. Forgets those that are settled or
 * released and have ended by now. Answers how many. The floor keeps their epochs from coming again.
 */
export const PURGE = script(`${CLOCK}
local found = redis.call('MGET', unpack(KEYS, 5))
local floor = tonumber(redis.call('GET', KEYS[4]) or 0)
local highest = floor
local keys, spots, ids = {}, {}, {}
for i = 1, #found do
  local there = found[i]
  local state = there and string.sub(there, 1, 1)
  if there and state ~= 'p' and state ~= 'u' and string.sub(there, 2, 14) <= nowText and string.sub(there, 2, 2) ~= '-' then
    local semicolon = string.find(there, ';', 57, true)
    local first = string.find(there, '\\n', semicolon, true)
    local second = string.find(there, '\\n', first + 1, true)
    local epoch = string.sub(there, 15, 30)
    highest = math.max(highest, tonumber(epoch))
    keys[#keys + 1] = KEYS[i + 4]
    ids[#ids + 1] = string.sub(KEYS[i + 4], -22)
    spots[#spots + 1] = string.sub(there, 57, semicolon - 1)
    if ARGV[1] ~= '' then
      redis.call('XADD', KEYS[3], '*', 'e', usText .. epoch .. string.sub(there, first + 1, second) .. ARGV[1])
    end
  end
end
if #keys > 0 then
  redis.call('UNLINK', unpack(keys))
  redis.call('XDEL', KEYS[2], unpack(spots))
  redis.call('ZREM', KEYS[1], unpack(ids))
  if highest > floor then redis.call('SET', KEYS[4], string.format('%.0f', highest)) end
end
return { tostring(#keys) }
`)

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
