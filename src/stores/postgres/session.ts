/**
 * The settings of a session that is ours. Plans are made once and walk a batch in its order, which is what keeps
 * batches from deadlocking; nothing waits for ever; a commit is on disk when it is acknowledged.
 */
import type { Terms } from './options.js'

/** For the store's own statements. Answers whether the server is a replica. */
export function workSession(terms: Terms): string {
  return settings({
    jit: 'off',
    plan_cache_mode: 'force_generic_plan',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    statement_timeout: terms.statementTimeoutMs,
    lock_timeout: terms.lockTimeoutMs,
    ...everywhere(terms),
  })
}

/** For the transactions of callers, whose statements are planned as everywhere else. */
export function transactionSession(terms: Terms): string {
  return settings({ idle_in_transaction_session_timeout: terms.idleInTransactionMs, ...everywhere(terms) })
}

function everywhere(terms: Terms): Readonly<Record<string, string | number>> {
  return {
    default_transaction_isolation: 'read committed',
    client_min_messages: 'warning',
    // Epochs and times come as numbers, with as many digits as they have.
    extra_float_digits: 1,
    tcp_keepalives_idle: 15,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 3,
    ...(terms.synchronousCommit ? { synchronous_commit: terms.synchronousCommit } : {}),
  }
}

function settings(all: Readonly<Record<string, string | number>>): string {
  const names = Object.entries(all).map(([name, value]) => `set ${name} = '${value}';`)
  return `${names.join(' ')} select pg_is_in_recovery() as replica, current_setting('synchronous_commit') as durable`
}

/** Where the server's default is off, a session of ours is not, unless that was accepted by name. */
export function mustTurnOn(durable: string, terms: Terms): boolean {
  return durable === 'off' && !terms.accept.includes('synchronous-commit-off')
}
