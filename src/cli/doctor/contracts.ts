/**
 * Contracts, out of a module that exports tools or out of a JSON file for `ibid mcp`. The module is loaded, as the
 * program that uses it would load it; nothing of it is called.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readContracts } from '../../adapters/mcp/tool-terms.js'
import { IbidError, invalidIntent } from '../../core/errors.js'
import { lintContract, type Tool } from '../../guards/broker/index.js'
import type { StoreFinding } from '../../store.js'
import type { Diagnosis } from './diagnosis.js'

export async function checkContracts(file: string): Promise<Diagnosis> {
  if (file.endsWith('.json')) return checkMcpContracts(file)
  const tools = toolsOf(await load(file))
  if (tools.length === 0) {
    throw invalidIntent(
      `--contracts ${file} exports no tool`,
      'export what defineTool returned, by itself or in a list',
    )
  }
  const findings = tools.flatMap((tool) =>
    lintContract(tool).map((finding) => ({ ...finding, message: `${tool.name}: ${finding.message}` })),
  )
  return {
    area: `contracts in ${file}`,
    facts: { tools: tools.map(({ name }) => name).join(', ') },
    findings,
  }
}

async function load(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** Whatever is exported, alone, in a list or in an object by name. */
function toolsOf(exported: unknown, depth = 0): readonly Tool[] {
  if (typeof exported !== 'object' || exported === null || depth > 2) return []
  const { name, effect } = exported as { readonly name?: unknown; readonly effect?: unknown }
  if (typeof name === 'string' && effect !== undefined) return [exported as Tool]
  return [...new Set(Object.values(exported).flatMap((each) => toolsOf(each, depth + 1)))]
}

function checkMcpContracts(file: string): Diagnosis {
  let contracts: unknown
  try {
    contracts = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw unreadable(file, error)
  }
  if (!Array.isArray(contracts))
    throw invalidIntent(`--contracts ${file} is not a list`, 'write a JSON array of { name, effect, … }')
  const findings: StoreFinding[] = contracts.flatMap((contract: unknown) => {
    try {
      readContracts([
        contract as Parameters<typeof readContracts>[0] extends readonly (infer C)[] | undefined ? C : never,
      ])
      return []
    } catch (error) {
      if (!(error instanceof IbidError)) throw error
      const message = error.message.replace(/; nothing was executed$/, '')
      return [{ level: 'error' as const, code: 'CONTRACT_REFUSED', message, remedy: error.action }]
    }
  })
  return { area: `contracts in ${file}`, facts: { tools: contracts.length }, findings }
}

function unreadable(file: string, error: unknown): IbidError {
  const reason = error instanceof Error ? error.message : String(error)
  return invalidIntent(
    `--contracts ${file} cannot be read: ${reason}`,
    'give a module that can be imported, or a JSON file',
  )
}
