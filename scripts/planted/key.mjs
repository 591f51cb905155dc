/** Defects in canonical text, fingerprints and keys. */
const at = (file, defects) =>
  defects.map((defect) => ({ file: `src/key/${file}`, tests: ['test/key'], ...defect }))

export const key = [
  ...at('names.ts', [
    {
      name: 'members sorted by the locale',
      find: 'while (at > 0 && (names[at - 1] as string) > name) {',
      put: 'while (at > 0 && (names[at - 1] as string).localeCompare(name) > 0) {',
    },
    {
      name: 'data can pass for a tag',
      find: 'return RESERVED.test(name) ? `$${name}` : name',
      put: 'return name',
    },
  ]),
  ...at('writer.ts', [
    {
      name: 'half a surrogate pair is let through',
      find: "return value.isWellFormed() ? JSON.stringify(value) : refuseText('has half a surrogate pair', depth, walk)",
      put: 'return JSON.stringify(value.toWellFormed())',
    },
    {
      name: 'undefined in a list becomes null',
      find: `const UNDEFINED = '{"$ibid":"undefined"}'`,
      put: `const UNDEFINED = 'null'`,
    },
  ]),
  ...at('fingerprint.ts', [
    {
      name: 'integers past 2^53 share a fingerprint',
      find: 'startWalk(Number.MAX_SAFE_INTEGER)',
      put: 'startWalk(Number.MAX_VALUE)',
    },
    {
      name: 'an include list that matches nothing makes all payloads one',
      find: 'if (lens.leaf || walk.counted > 0) return text',
      put: 'return text',
    },
  ]),
  ...at('schema-node.ts', [
    {
      name: 'a place of a tuple that may hold anything is taken for one of the rest',
      find: 'read(schema, `${at}.${keyword}[${i}]`) ?? emptyNode(false)))',
      put: 'read(schema, `${at}.${keyword}[${i}]`) as SchemaNode))',
      tests: ['test/key/schema.test.ts'],
    },
  ]),
  ...at('schema.ts', [
    {
      name: 'a recursive schema with branches is followed a multiple of times at each level',
      find: 'followed.set(node, view)',
      put: '',
      tests: ['test/key/schema.test.ts'],
    },
  ]),
  ...at('template.ts', [
    {
      name: 'parts of a key template run into each other',
      find: 'if (problem === undefined) return encodeURIComponent(String(part))',
      put: 'if (problem === undefined) return String(part)',
    },
  ]),
]
