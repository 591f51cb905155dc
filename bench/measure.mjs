/** One measurement in a process of its own: `node bench/measure.mjs <module> <name> <json>` prints JSON. */
const [module, name, settings = '{}'] = process.argv.slice(2)
const cells = await import(new URL(module, import.meta.url).href)
const result = await cells[name](JSON.parse(settings))
process.stdout.write(`\n${JSON.stringify(result)}\n`, () => process.exit(0))
