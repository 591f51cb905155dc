/**
 * Servers without anything on them: before each measurement, so that all find the same. One that keeps what the others
 * wrote gives less and less, whoever is measured: every page that it adds has to be had from the machine first, and
 * what is on its way to the disk takes the next one's time. Growth is measured by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Client } from 'pg'

const DROP_ALL = `do $$
declare name text;
begin
  for name in select nspname from pg_namespace where nspname !~ '^(pg_|public$|information_schema$)' loop
    execute format('drop schema %I cascade', name);
  end loop;
end $$`

export async function emptyPostgres(url) {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('set client_min_messages = warning')
  await client.query(DROP_ALL)
  await client.query('checkpoint')
  await client.end()
}

export async function emptyRedis(url) {
  const redis = new Redis(url)
  await redis.flushall('SYNC')
  await redis.bgrewriteaof()
  while (/aof_rewrite_(in_progress|scheduled):1/.test(await redis.info('persistence'))) await sleep(20)
  await redis.quit()
}
