/**
 * The Lua of the store, one script per verb, each over the keys of one shard and over all of a batch at once.
 * All are atomic, take the server's own time, and name every key they touch in KEYS.
 *
 * A receipt is one string: what every change writes anew, which is state (a letter), `until` (13 digits; dashes:
 * never) and `at` (13); what a change may keep, which is `epoch` (16), `createdAt` (13) and three lines: the token, its
 * terms, whose it is; and the outcome. The journal, which is the audit log, has every change as well: a stream whose
 * entries hold microseconds (16), the note of all in it, and of each receipt what a change may keep. Where that has
 * the same stamps in all of them, these stand once, behind the microseconds. A claim and a swap write nothing else;
 * the indexes are brought up to date from the journal by whoever needs them (INDEX).
 *
 * What a claim or a swap brings comes in runs of receipts that have most in common: runs.ts makes them, RUN reads them.
 * The server hashes every byte of every string that a script gets or makes, and that is a third of what it does here.
 * So nothing is cut or joined that can be taken along: what a claim brings of a receipt is an argument as it will be
 * stored, and what a swap keeps goes from the receipt into its successor and the journal in one piece.
 * Answers name only what is not the usual.
 */
import { createHash } from 'node:crypto'

/** In one entry of the journal. */
export const MOST_EVENTS = 32

export interface Script {
  readonly sha: string
  readonly text: string
}

/** Microseconds and milliseconds, as digits of fixed length: they compare and cut as text. */
export const CLOCK = `
local sub, find, call = string.sub, string.find, redis.call
local time = call('TIME')
local us = time[1] .. (#time[2] == 6 and time[2] or sub('00000' .. time[2], -6))
local now = sub(us, 1, 13)
`

const RUNS = `
local keys, args, at, left = KEYS, ARGV, 1, 0
local state, forMs, note, hasOutcome, as, epoch, created, front
`

/** What every change writes anew. */
export function frontOf(state: string, forMs: string): string {
  return `${state} .. (${forMs} == '' and '-------------' or string.format('%013.0f', now + ${forMs})) .. now`
}

/**
 * In a loop: before the first of a run, what all of it have in common, and `first` is done. Then `left` is how many of
 * it follow, and what the receipt brings begins at `at`.
 */
const run = (first: string): string => `
  if left == 0 then
    if logged > 0 then flush() end
    left, state, forMs, note, hasOutcome, as, epoch, created = unpack(cjson.decode(args[at]))
    front = ${frontOf('state', 'forMs')}
    at = at + 1
${first}
  end
  left = left - 1
`

const OUTCOME = `
  local outcome = ''
  if hasOutcome then
    outcome = args[at]
    at = at + 1
  end
`

const lineEnd = (from: string): string => `find(there, '\\n', ${from}, true)`

/** What a change of `there` may keep of it, and the journal is told of it: the stamps, and three lines. */
export const KEPT = `sub(there, 28, ${lineEnd(`${lineEnd(`${lineEnd('57')} + 1`)} + 1`)})`

/** A new epoch: the time, or one more than the last one where the clock has not moved on. */
export function above(epoch: string): string {
  return `${epoch} and ${epoch} >= us and string.format('%016.0f', ${epoch} + 1) or us`
}

export const IS_AS_EXPECTED = `there and find(there, as, 1, true) == 1 and find(there, token, 57, true) == 57`

/** An entry is kept short, so that a purge can drop one without dropping much more than it was asked to. */
export const journal = (key: string): string => `
local events, logged, stamps = {}, 0, us
local function flush()
  ${entry(key)}
  logged = 0
end
`
export const LOG = `
    logged = logged + 1
    events[logged] = kept
    if logged == ${MOST_EVENTS} then flush() end
`

/** Only a hint: who may not use the channel has settled all the same. */
export const hint = (channel: string, digests: string): string =>
  `redis.pcall('PUBLISH', ${channel}, ${digests})`

/** A stream has pairs. */
function entry(key: string): string {
  return `
  if logged % 2 == 1 then events[logged + 1] = '' end
  call('XADD', ${key}, '*', stamps, note, unpack(events, 1, logged + logged % 2))
`
}

/**
 * KEYS: journal, floor, receipts. ARGV: runs.
 * Answers: now, the epoch of those that were inserted, and for each other one its number and what is there; or its
 * epoch, where it was inserted under one of its own.
 */
export const CLAIM = script(`${CLOCK}${RUNS}${journal('keys[1]')}
local found = call('MGET', unpack(keys, 2))
local newEpoch = ${above('found[1]')}
local answer, fresh, writes, n = { now, newEpoch }, {}, {}, 0
for i = 2, #found do
${run(`
    local kept = (epoch or newEpoch) .. (created or now)
    front = front .. kept
    stamps = us .. kept
`)}
  local kept = args[at]
  at = at + 1
${OUTCOME}
  local key = keys[i + 1]
  local there = found[i] or fresh[key]
  if there then
    answer[#answer + 1] = i - 2
    answer[#answer + 1] = there
  else
    if epoch then
      answer[#answer + 1] = i - 2
      answer[#answer + 1] = epoch
    end
    local value = front .. kept .. outcome
    fresh[key] = value
    writes[n + 1] = key
    writes[n + 2] = value
    n = n + 2
${LOG}
  end
end
if n > 0 then
  call('MSET', unpack(writes))
  if logged > 0 then flush() end
end
return answer
`)

/**
 * KEYS: journal, receipts. ARGV: the channel, and runs.
 * Answers: now, and then the number of each change that was not made, with nothing, or that was made under a new
 * epoch, with that.
 */
export const SWAP = script(`${CLOCK}${RUNS}${journal('keys[1]')}
local found = call('MGET', unpack(keys, 2))
local answer, written, writes, n, ended = { now }, {}, {}, 0, {}
at = 2
for i = 1, #found do
${run('')}
  local key, token, brought = keys[i + 1], args[at], ''
  local place = written[key]
  local there = place and writes[place] or found[i]
  at = at + 1
  if epoch ~= '=' then
    brought = args[at]
    at = at + 1
  end
${OUTCOME}
  if ${IS_AS_EXPECTED} then
    local kept
    if epoch == '=' then
      kept = ${KEPT}
    else
      local new = epoch
      if not new then
        local before = sub(there, 28, 43)
        new = ${above('before')}
        answer[#answer + 1] = i - 1
        answer[#answer + 1] = new
      end
      kept = new .. (created or now) .. brought
    end
    if not place then
      place = n + 2
      written[key] = place
      writes[n + 1] = key
      n = place
    end
    writes[place] = front .. kept .. outcome
${LOG}
    if state ~= 'p' and sub(as, 1, 1) == 'p' then ended[#ended + 1] = sub(key, -22) end
  else
    answer[#answer + 1] = i - 1
    answer[#answer + 1] = ''
  end
end
if n > 0 then
  call('MSET', unpack(writes))
  if logged > 0 then flush() end
  if #ended > 0 then ${hint('args[1]', 'table.concat(ended)')} end
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

/** KEYS: journal. ARGV: per entry how many, their note, and what it tells of each receipt, under stamps of its own. */
export const RECORD = script(`${CLOCK}
local stamps, at = us, 1
while at < #ARGV do
  local logged, note = tonumber(ARGV[at]), ARGV[at + 1]
  local events = { unpack(ARGV, at + 2, at + 1 + logged) }
  at = at + 2 + logged
  ${entry('KEYS[1]')}
end
return { now }
`)

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
