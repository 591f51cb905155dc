/**
 * The effect that all of these examples guard: a refund, which is a line in a file of its own, so that it can be
 * counted whatever became of the process. `how: 'slow'` answers late, `how: 'fail'` fails when the money has
 * moved.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export function openRefunds(folder) {
  const file = `${folder}/refunds.log`
  const count = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0)
  return {
    count,
    async make({ amount, how }) {
      appendFileSync(file, `${amount}\n`)
      const refund = count()
      if (how === 'slow') await sleep(500)
      if (how === 'fail') throw new Error('the payment provider timed out')
      return { refund, amount }
    },
  }
}
