/**
 * One bench at work: a vitest that stays up over a copy of the sources. Told a file, its changed text and the tests
 * to ask, it answers with the first test that failed. The parent ends it when a program never ends.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { createVitest } from 'vitest/node'

const [folder, isBuilt] = process.argv.slice(2)
process.chdir(folder)
const run = promisify(execFile)
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
  // It answers with every file that it ever ran: what failed under an earlier program is still in there.
  const asked = new Set(wanted.map(({ moduleId }) => moduleId))
  for (const module of testModules.filter(({ moduleId }) => asked.has(moduleId))) {
    for (const test of module.children.allTests('failed')) return test.fullName
    if (module.errors().length > 0) return `${module.relativeModuleId} did not load`
  }
  return unhandledErrors.length > 0 ? 'an error outside of any test' : undefined
}

/** One file by itself, whatever its types: they are for the tests to see. False: it is no program at all. */
async function build(file) {
  const settings = {
    extends: './tsconfig.build.json',
    compilerOptions: { noCheck: true, noResolve: true, types: [] },
    files: [file],
    include: [],
  }
  writeFileSync('tsconfig.bench.json', JSON.stringify(settings))
  const tsc = path.join('node_modules', 'typescript', 'bin', 'tsc')
  return await run(process.execPath, [tsc, '-p', 'tsconfig.bench.json']).then(
    () => true,
    () => false,
  )
}

/** What a text takes the place of: the source, and what was built of it. */
function placesOf(file) {
  const places = isBuilt ? [file, file.replace(/^src/, 'dist').replace(/ts$/, 'js')] : [file]
  return places.map((place) => ({ place: path.join(folder, place), sound: readFileSync(place, 'utf8') }))
}

async function tryText({ file, text, files }) {
  const places = text === undefined ? [] : placesOf(file)
  try {
    if (text !== undefined) {
      writeFileSync(file, text)
      if (isBuilt && !(await build(file))) return { isNoProgram: true }
      for (const { place } of places) vitest.invalidateFile(place)
    }
    return { killedBy: await failing(files) }
  } catch (error) {
    return { killedBy: `vitest: ${error.message}` }
  } finally {
    for (const { place, sound } of places) {
      writeFileSync(place, sound)
      vitest.invalidateFile(place)
    }
  }
}

process.on('message', (order) => void tryText(order).then((answer) => process.send(answer)))
process.send({ ready: true })
