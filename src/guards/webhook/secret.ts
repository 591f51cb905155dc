/**
 * Signing secrets: one, several at once while they rotate, or a function that looks them up for this delivery, as
 * programs with a secret per tenant do. No secret means that nobody is believed.
 */
import { invalidIntent } from '../../core/errors.js'
import type { Arrived } from './source.js'

type Secrets = string | readonly string[]

/** What is known of a delivery before its signature is: enough to find the secret, nothing to act on. */
export type Unverified = Pick<Arrived, 'url' | 'headers'>

export type Secret = Secrets | ((delivery: Unverified) => Secrets | undefined | Promise<Secrets | undefined>)

export type FindSecrets = (delivery: Unverified) => Promise<readonly string[]>

/** Each one costs a digest per delivery, forged ones included. */
const MOST = 8

/** `problem` says what else is wrong with one secret of this source, if anything. */
export function readSecret(
  source: string,
  secret: Secret,
  problem: (one: string) => string | undefined = () => undefined,
): FindSecrets {
  function check(given: Secrets | undefined): readonly string[] {
    const all = given === undefined ? [] : [given].flat()
    if (all.length > MOST) throw wrong(source, `are more than ${MOST}`)
    for (const one of all) {
      if (typeof one !== 'string' || one === '') throw wrong(source, 'has an empty one among them')
      if (one.trim() !== one) throw wrong(source, 'has white space around one of them')
      const what = problem(one)
      if (what !== undefined) throw wrong(source, what)
    }
    return all
  }
  if (typeof secret === 'function') return async (delivery) => check(await secret(delivery))
  const all = check(secret)
  if (all.length === 0) throw wrong(source, 'is missing')
  return () => Promise.resolve(all)
}

/** The secret itself never stands in a message. */
function wrong(source: string, what: string): Error {
  return invalidIntent(
    `the signing secret of ${source} ${what}`,
    `give ${source}({ secret }) the secret from the vendor's settings, or [next, current] while it rotates`,
  )
}
