/** Defects in what an adapter takes from its framework, and in what it says to one. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/adapters', 'test/adapters')

export const adapters = [
  ...at('ai-sdk.ts', 'host', [
    {
      name: 'an id that a model uses again is taken for a stored one',
      find: " && !about.includes('tool-result')",
      put: '',
    },
    {
      name: 'an id of two calls is taken for one of them',
      find: "(type) => type === 'tool-call').length === 1",
      put: "(type) => type === 'tool-call').length > 0",
    },
  ]),
  ...at('openai-agents.ts', 'host', [
    {
      name: 'arguments that are no JSON end the run of an agent',
      find: 'return Object.assign(made, { invoke: unparsed })',
      put: 'return Object.assign(made, { invoke })',
    },
  ]),
]
