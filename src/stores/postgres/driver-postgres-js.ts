/**
 * The driver for a client of `postgres` (postgres.js). The client stays its owner's: its connections are not closed
 * and keep their settings, and its own reconnecting and listening are used as they are.
 */
import { asText } from './arrays.js'
import type { Driver, Session } from './driver.js'
import { timedOut } from './errors.js'
import type { PostgresJs, PostgresJsTransaction } from './shapes.js'
import { untilEnded } from './until-ended.js'

export function postgresJsDriver(sql: PostgresJs, answerMs: number): Driver {
  /** It has no limit of its own on how long an answer may take. */
  async function inTime<T>(answer: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(timedOut(answerMs)), answerMs)
    })
    return await Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }

  function sessionOf(on: PostgresJsTransaction): Session {
    return {
      run: async ({ text }, params) =>
        await inTime(on.unsafe(text, params.map(asText), { prepare: true }).values()),
    }
  }

  return {
    own: false,
    seesCommits: false,
    run: sessionOf(sql).run,
    async script(text) {
      await inTime(sql.unsafe(text).simple())
    },
    async begin<T>(work: Parameters<Driver['begin']>[0]): Promise<T> {
      const begun = sql.begin('isolation level read committed', async (tx: PostgresJsTransaction) => {
        const session = sessionOf(tx)
        const { client, end } = untilEnded(tx)
        try {
          return await work({
            client,
            run: session.run,
            // Not the simple protocol, where a text may be several statements, and end the transaction.
            query: async (text, params) => [...(await tx.unsafe(text, [...params], { simple: false }))],
          })
        } finally {
          end()
        }
      })
      return (await begun) as T
    },
    listen(channel, hear) {
      const listening = sql.listen(channel, hear)
      listening.catch(() => {})
      return () => void listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
    close: async () => {},
  }
}
