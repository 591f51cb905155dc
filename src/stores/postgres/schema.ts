/**
 * The tables, as SQL that an operator can read and run by hand. Receipts are found by a digest of their address, which
 * begins with the tenant's; the address itself stands in the row and is always compared. Settling a receipt changes no
 * indexed column, so Postgres can write the new version into the room that `fillfactor` left on the same page,
 * without touching an index; what that takes is said in docs/adr/0004-postgres.md.
 */

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

const DEFAULT_SCHEMA = 'ibid'

/** Every step from an empty database to the newest schema, in order. Each is one transaction. */
export function migrations(schema: string = DEFAULT_SCHEMA): readonly Migration[] {
  const s = quoteName(schema)
  return [
    { version: 1, name: 'receipts, audit and the row that both share', sql: first(s) },
    { version: 2, name: "digests that begin with the tenant's, as the primary key", sql: second(s) },
    { version: 3, name: 'audit events of a batch in one row', sql: third(s) },
    { version: 4, name: 'room for every settlement on the page of its claim', sql: fourth(s) },
  ]
}

export const NEWEST = 4

/** How far apart the ids of two rows of the log are: room for the ids of as many events in the first. */
export const ROOM = 1_024
/** What a row of several events has of each, in arrays whose names are in the plural. */
export const EACH = ['epoch', 'attempt', 'tenant', 'scope', 'key', 'fingerprint']
/** A row of fewer events is not worth it: whoever looks for an address has to look into every one of them. */
export const LEAST_TOGETHER = 16

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function first(s: string): string {
  return `create schema if not exists ${s};

create table ${s}.meta (
  only_row     boolean primary key default true check (only_row),
  version      int     not null,
  epoch_floor  bigint  not null default 0,  -- no purged receipt had a higher epoch
  frontier     bigint  not null default 0   -- a pending receipt up to this epoch is marked by "attention"
);

create table ${s}.receipts (
  digest       uuid    not null,            -- a hash of the address
  epoch        bigint  not null,            -- microseconds: the fencing number of the last claim
  created_at   bigint  not null,            -- milliseconds since 1970, as all that follow
  at           bigint  not null,
  until        bigint,                      -- end of lease or window; null: none
  forget_at    bigint,                      -- a lower bound of when it may be purged; null: never as it is
  lease_ms     bigint  not null,
  window_ms    bigint  not null,
  attempt      int     not null,
  max_attempts int     not null,
  attention    boolean not null,            -- unknown, or pending for longer than usual
  tenant       text collate "C" not null,
  scope        text collate "C" not null,
  key          text collate "C" not null,
  state        text collate "C" not null,
  recovery     text collate "C" not null,
  token        text collate "C" not null,
  fingerprint  text collate "C" not null,
  outcome      text collate "C",
  primary key (tenant, digest)
) with (fillfactor = 35, autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.1);

create index receipts_forget    on ${s}.receipts (forget_at) where forget_at is not null;
create index receipts_epoch     on ${s}.receipts (epoch);
create index receipts_attention on ${s}.receipts (tenant, digest) where attention;

create table ${s}.audit (
  id           bigint generated always as identity primary key,
  digest       uuid   not null,
  at           bigint not null,
  epoch        bigint not null,
  attempt      int    not null,
  count        int    not null,
  tenant       text collate "C" not null,
  scope        text collate "C" not null,
  key          text collate "C" not null,
  event        text collate "C" not null,
  state        text collate "C",
  fingerprint  text collate "C" not null,
  "by"         text collate "C",
  why          text collate "C"
) with (autovacuum_vacuum_insert_scale_factor = 0.1);

-- Costs a claim next to nothing, and finds the events of one address without reading the whole log.
create index audit_digest on ${s}.audit using brin (digest uuid_bloom_ops) with (pages_per_range = 32);

insert into ${s}.meta (version) values (1);
`
}

/** Writes every row anew: a large log is best migrated by hand, with nobody at work. */
function second(s: string): string {
  const digest = `(substr(encode(sha256(convert_to(tenant, 'UTF8')), 'hex'), 1, 8)
  || substr(replace(digest::text, '-', ''), 9))::uuid`
  return `alter table ${s}.receipts drop constraint receipts_pkey;
drop index ${s}.receipts_attention;
update ${s}.receipts set digest = ${digest};
alter table ${s}.receipts add constraint receipts_pkey primary key (digest);
create index receipts_attention on ${s}.receipts (digest) where attention;
update ${s}.audit set digest = ${digest};

-- No purged receipt had a higher epoch. Under this name, so that a process of the version before cannot claim any more:
-- it would look for receipts under their old digests.
alter table ${s}.meta rename column epoch_floor to floor;
update ${s}.meta set version = 2;
`
}

/**
 * Writes no row anew, but reads the whole log once. Processes of the version before can go on claiming and settling;
 * they would read rows of several events wrongly, and so do not find the row's number any more.
 */
function third(s: string): string {
  return `alter table ${s}.audit rename id to row_id;
alter table ${s}.audit
  alter row_id set increment by ${ROOM},
  alter digest drop not null, alter epoch drop not null, alter attempt drop not null, alter tenant drop not null,
  alter scope drop not null, alter key drop not null, alter fingerprint drop not null,
  add size         int,                     -- a row of several events: how many are left; null: one event
  add dropped      int,                     -- how many of the first ones were purged; the others keep their ids
  add marks        int[],                   -- of each event, a part of its receipt's digest: to find the row by
  add epochs       bigint[],                -- of each event, as all that follow
  add attempts     int[],
  add tenants      text[] collate "C",
  add scopes       text[] collate "C",
  add keys         text[] collate "C",
  add fingerprints text[] collate "C";

-- As they are: trying to make them smaller takes longer than writing them. The marks are always at hand.
alter table ${s}.audit
  alter marks set storage main, alter epochs set storage external, alter attempts set storage external,
  alter tenants set storage external, alter scopes set storage external, alter keys set storage external,
  alter fingerprints set storage external;

create index audit_batches on ${s}.audit (row_id) where marks is not null;

update ${s}.meta set version = 3;
`
}

/** Changes no page that is there: those that are filled from now on leave a little more room. */
function fourth(s: string): string {
  return `alter table ${s}.receipts set (fillfactor = 30);

update ${s}.meta set version = 4;
`
}
