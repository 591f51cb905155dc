/**
 * What a Postgres server can do for this workload without ibid: SQL written by hand over `pg`, the same receipts, an
 * audit row for each change (the store writes one for a batch), and nothing of what a store has to promise beyond the
 * conditional insert and the conditional update.
 */
import { createHash } from 'node:crypto'
import { Client, Pool } from 'pg'
import { newKey, payloadOf, perSecond, resultOf, SCOPE, TENANT, WARM_UP, warmUp } from './workload.mjs'

const SCHEMA = `
create schema if not exists ibid_raw;
create table if not exists ibid_raw.receipts (
  tenant text collate "C" not null, scope text collate "C" not null, key text collate "C" not null,
  state text collate "C" not null, recovery text collate "C" not null, token text collate "C" not null,
  fingerprint text collate "C" not null, outcome text collate "C",
  epoch bigint not null, created_at bigint not null, at bigint not null, until bigint,
  lease_ms bigint not null, window_ms bigint not null, attempt int not null, max_attempts int not null,
  primary key (tenant, scope, key)
) with (fillfactor = 30);
create table if not exists ibid_raw.audit (
  id bigint generated always as identity primary key, at bigint not null, epoch bigint not null, attempt int not null,
  count int not null, tenant text collate "C" not null, scope text collate "C" not null,
  key text collate "C" not null, event text collate "C" not null, state text collate "C" not null,
  fingerprint text collate "C" not null
)`

const NOW = `(extract(epoch from clock_timestamp()) * 1000)::bigint`
const MICROS = `(extract(epoch from clock_timestamp()) * 1000000)::bigint`
const AUDIT = `insert into ibid_raw.audit (at, epoch, attempt, count, tenant, scope, key, event, state, fingerprint)`
const INSERT = `insert into ibid_raw.receipts (tenant, scope, key, state, recovery, token, fingerprint, epoch,
  created_at, at, until, lease_ms, window_ms, attempt, max_attempts)`

const CLAIM = {
  name: 'raw_claim',
  text: `with i as (${INSERT}
  select $1, $2, w.key, 'pending', 'hold', w.token, w.fingerprint, c.e, c.t, c.t, c.t + 30000, 30000, 604800000, 1, 5
  from unnest($3::text[], $4::text[], $5::text[]) as w (key, token, fingerprint),
    (select ${NOW} as t, ${MICROS} as e) c
  on conflict do nothing returning at, epoch, attempt, tenant, scope, key, state, fingerprint),
a as (${AUDIT} select at, epoch, attempt, 1, tenant, scope, key, 'claimed', state, fingerprint from i)
select key from i`,
}

const SETTLE = {
  name: 'raw_settle',
  text: `with u as (
  update ibid_raw.receipts r set state = 'succeeded', outcome = w.outcome, at = c.t, until = c.t + 604800000
  from unnest($3::text[], $4::text[], $5::text[]) as w (key, token, outcome), (select ${NOW} as t) c
  where r.tenant = $1 and r.scope = $2 and r.key = w.key and r.token = w.token and r.state = 'pending'
  returning r.at, r.epoch, r.attempt, r.tenant, r.scope, r.key, r.state, r.fingerprint),
a as (${AUDIT} select at, epoch, attempt, 1, tenant, scope, key, 'settled', state, fingerprint from u)
select key from u`,
}

/** One plan for all, made for batches, as a store's own sessions have it. */
const SESSION =
  '-c jit=off -c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c enable_hashjoin=off -c enable_mergejoin=off'

async function open(url, max, options) {
  const first = new Client({ connectionString: url })
  await first.connect()
  await first.query(`select pg_advisory_xact_lock(8127); ${SCHEMA}`)
  await first.end()
  return new Pool({ connectionString: url, max, options })
}

const fingerprintOf = (key) =>
  createHash('sha256')
    .update(JSON.stringify(payloadOf(key)))
    .digest('hex')
const outcomeOf = (key) => JSON.stringify({ value: resultOf(key) })
const array = (texts) => `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`

/** The limit: claims and settlements in sorted batches, nothing between them but the round trips. */
export async function batched({ url, count, batch = 256, connections = 4, warmUpMs }) {
  const first = await open(url, connections, SESSION)
  await perSecond(connections * 2, connections, () => batchOf(first, batch))
  // A plan that was made for an empty table would be kept.
  await first.query('analyze ibid_raw.receipts')
  await first.end()
  const pool = await open(url, connections, SESSION)
  await warmUp(warmUpMs, connections, () => batchOf(pool, batch))
  const rate = await perSecond(Math.ceil(count / batch), connections, () => batchOf(pool, batch))
  await pool.end()
  return rate * batch
}

async function batchOf(pool, batch) {
  const keys = Array.from({ length: batch }, newKey).sort()
  const tokens = array(Array.from({ length: batch }, newKey))
  const names = array(keys)
  const claim = [TENANT, SCOPE, names, tokens, array(keys.map(fingerprintOf))]
  const claimed = await pool.query({ ...CLAIM, values: claim, rowMode: 'array' })
  const settle = [TENANT, SCOPE, names, tokens, array(keys.map(outcomeOf))]
  const settled = await pool.query({ ...SETTLE, values: settle, rowMode: 'array' })
  if (claimed.rows.length !== batch || settled.rows.length !== batch) throw new Error('a row was lost')
}

/** What one writes first: two prepared statements per action, over a pool. */
export async function naive({ url, count, callers = 256, connections = 16, warmUpMs }) {
  const pool = await open(url, connections)
  await warmUp(warmUpMs, callers, () => naiveAction(pool))
  const rate = await perSecond(count, callers, () => naiveAction(pool))
  await pool.end()
  return rate
}

/** One caller, two round trips, one after the other. */
export async function roundTrips({ url, count }) {
  const pool = await open(url, 1)
  await perSecond(WARM_UP, 1, () => naiveAction(pool))
  const rate = await perSecond(count, 1, () => naiveAction(pool))
  await pool.end()
  return rate
}

async function naiveAction(pool) {
  const key = newKey()
  const token = newKey()
  const claimed = await pool.query({ ...ONE_CLAIM, values: [TENANT, SCOPE, key, token, fingerprintOf(key)] })
  const settled = await pool.query({ ...ONE_SETTLE, values: [TENANT, SCOPE, key, token, outcomeOf(key)] })
  if (claimed.rows.length !== 1 || settled.rows.length !== 1) throw new Error('a row was lost')
}

const ONE_CLAIM = {
  name: 'raw_one_claim',
  text: `with c as (select ${NOW} as t, ${MICROS} as e), i as (${INSERT}
  select $1, $2, $3, 'pending', 'hold', $4, $5, c.e, c.t, c.t, c.t + 30000, 30000, 604800000, 1, 5 from c
  on conflict do nothing returning at, epoch, attempt, tenant, scope, key, state, fingerprint),
a as (${AUDIT} select at, epoch, attempt, 1, tenant, scope, key, 'claimed', state, fingerprint from i)
select key from i`,
}

const ONE_SETTLE = {
  name: 'raw_one_settle',
  text: `with c as (select ${NOW} as t), u as (
  update ibid_raw.receipts r set state = 'succeeded', outcome = $5, at = c.t, until = c.t + 604800000 from c
  where r.tenant = $1 and r.scope = $2 and r.key = $3 and r.token = $4 and r.state = 'pending'
  returning r.at, r.epoch, r.attempt, r.tenant, r.scope, r.key, r.state, r.fingerprint),
a as (${AUDIT} select at, epoch, attempt, 1, tenant, scope, key, 'settled', state, fingerprint from u)
select key from u`,
}

/** Settled rows by their key, one a query, as a lookup before every action would read them. */
export async function selects({ url, count, callers = 256, keys = 5_000, connections = 16 }) {
  const pool = await open(url, connections)
  const there = Array.from({ length: keys }, newKey)
  for (let i = 0; i < keys; i += 500) {
    const some = there.slice(i, i + 500)
    const tokens = array(some)
    await pool.query({
      ...CLAIM,
      values: [TENANT, SCOPE, array(some), tokens, array(some.map(fingerprintOf))],
    })
    await pool.query({ ...SETTLE, values: [TENANT, SCOPE, array(some), tokens, array(some.map(outcomeOf))] })
  }
  async function one(i) {
    const { rows } = await pool.query({
      name: 'raw_select',
      text: `select * from ibid_raw.receipts where tenant = $1 and scope = $2 and key = $3`,
      values: [TENANT, SCOPE, there[(i * 7919) % keys]],
    })
    if (JSON.parse(rows[0].outcome).value.status !== 'succeeded') throw new Error('that was not settled')
  }
  await perSecond(keys, callers, one)
  const rate = await perSecond(count, callers, one)
  await pool.end()
  return rate
}

/**
 * Settled receipts put straight into the tables of a store that has been opened once, because ten million through the
 * front door take too long. The first `ended` of them are past their window, for a purge to find. None is pending, so
 * the frontier is behind the last of them, where a store that wrote them would have it.
 */
export async function fill({ url, count, ended = 0, schema = 'ibid' }) {
  const prefix = createHash('sha256').update(TENANT).digest('hex').slice(0, 8)
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`
    set maintenance_work_mem = '1GB';
    set synchronous_commit = off;
    alter table "${schema}".receipts drop constraint receipts_pkey;
    drop index "${schema}".receipts_forget;
    drop index "${schema}".receipts_epoch;
    insert into "${schema}".receipts (digest, tenant, scope, key, fingerprint, token, state, recovery, outcome, attempt,
      max_attempts, lease_ms, window_ms, epoch, created_at, at, until, forget_at, attention)
    select overlay(k::text placing '${prefix}' from 1 for 8)::uuid,
      '${TENANT}', '${SCOPE}', k::text, md5(k::text) || md5(k::text), k::text, 'succeeded', 'hold',
      '${JSON.stringify({ value: resultOf('0') })}', 1, 5, 30000, 604800000,
      n.now * 1000 - 100000000 + i, n.now - 100000, n.now - 100000, e.ends, e.ends, false
    from (select gen_random_uuid() as k, i from generate_series(1, ${count}) i) g,
      (select ${NOW} as now) n,
      lateral (select case when i <= ${ended} then n.now - 1000 else n.now + 604800000 end as ends) e;
    alter table "${schema}".receipts add constraint receipts_pkey primary key (digest);
    create index receipts_forget on "${schema}".receipts (forget_at) where forget_at is not null;
    create index receipts_epoch on "${schema}".receipts (epoch);
    update "${schema}".meta set frontier = (select max(epoch) from "${schema}".receipts)`)
  await client.query(`vacuum analyze "${schema}".receipts`)
  await client.query('checkpoint')
  await client.end()
  return count
}
