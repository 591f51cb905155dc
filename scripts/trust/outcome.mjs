/** What a run of tests came to, from vitest's report and its exit code. What did not run did not pass. Pure. */

/** `results`: the report's `testResults`; `nameOf`: how a file is called. */
export function outcomeOf(results, code, nameOf = (name) => name) {
  const tests = results.flatMap(({ assertionResults }) => assertionResults)
  const named = (status) => tests.filter((test) => test.status === status).map(({ fullName }) => fullName)
  // A file that did not load has no tests in it, and counts as a failure.
  const broken = results.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
  const idle = tests.filter(({ status }) => status !== 'passed' && status !== 'failed')
  const failed = [
    ...named('failed'),
    ...broken.map(({ name }) => `${nameOf(name)} did not load`),
    ...idle.map(({ fullName }) => `${fullName} was not run`),
  ]
  // An error that belongs to no test, or a worker that died, is in the exit code and in no test.
  if (code !== 0 && failed.length === 0) failed.push(`vitest ended with ${code} outside of any test`)
  return { passed: named('passed'), failed }
}
