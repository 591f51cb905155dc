/**
 * A reporter for vitest: writes down the errors that belong to no test (a rejection nobody handled, a worker that
 * died), so that the summary of `npm test` can name them. Without it they scroll by before the coverage table.
 */
import { mkdirSync, writeFileSync } from 'node:fs'

const FOLDER = 'reports'

export default class OutsideErrors {
  onTestRunEnd(_modules, errors) {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(`${FOLDER}/outside-errors.json`, JSON.stringify(errors.map(described)))
  }
}

function described({ name, message, stack, VITEST_TEST_PATH, VITEST_TEST_NAME }) {
  const where = [VITEST_TEST_PATH, VITEST_TEST_NAME].filter(Boolean).join(' › ')
  return [where && `while ${where} ran`, stack || `${name}: ${message}`].filter(Boolean).join('\n')
}
