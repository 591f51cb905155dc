/** One row of the trust table, in a process of its own: progress on standard error, its report as a line of JSON. */
import { findRow } from './rows.mjs'

const [id, size] = process.argv.slice(2)
const row = findRow(id)
const progress = (text) => process.stderr.write(`${text}\n`)
let report
try {
  report = await row.run({ quick: size === 'quick', progress })
} catch (error) {
  report = {
    error: String(error?.message ?? error)
      .split('\n')
      .slice(0, 4)
      .join(' '),
  }
}
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0))
