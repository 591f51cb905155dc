/**
 * One bench for mutants: a copy of the sources and a vitest that stays up. Told a file, its changed text and the tests
 * to ask, it answers with the first test that failed. The parent ends it when a mutant never ends.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createVitest } from 'vitest/node'

const [folder] = process.argv.slice(2)
process.chdir(folder)
const quiet = { onInit() {} }
const vitest = await createVitest('test', {
  root: folder,
  watch: false,
  bail: 1,
  pool: 'forks',
  maxWorkers: 1,
  isolate: true,
  reporters: [quiet],
  coverage: { enabled: false },
})
await vitest.standalone()

/** The first test that failed in these files; undefined when all of them are green. */
async function failing(files) {
  const specs = files.flatMap((file) => vitest.getModuleSpecifications(path.join(folder, file)))
  const wanted =
    specs.length > 0
      ? specs
      : files.map((file) => vitest.getRootProject().createSpecification(path.join(folder, file)))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(wanted)
  // It answers with every file that it ever ran: what failed under an earlier mutant is still in there.
  const asked = new Set(wanted.map(({ moduleId }) => moduleId))
  for (const module of testModules.filter(({ moduleId }) => asked.has(moduleId))) {
    for (const test of module.children.allTests('failed')) return test.fullName
    if (module.errors().length > 0) return `${module.relativeModuleId} did not load`
  }
  return unhandledErrors.length > 0 ? 'an error outside of any test' : undefined
}

async function tryMutant({ file, text, files }) {
  const target = path.join(folder, file)
  const sound = readFileSync(target, 'utf8')
  let killedBy
  try {
    if (text !== undefined) {
      writeFileSync(target, text)
      vitest.invalidateFile(target)
    }
    killedBy = await failing(files)
  } catch (error) {
    killedBy = `vitest: ${error.message}`
  } finally {
    writeFileSync(target, sound)
    vitest.invalidateFile(target)
  }
  process.send({ killedBy })
}

process.on('message', (order) => void tryMutant(order))
process.send({ ready: true })
