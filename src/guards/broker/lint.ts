/** Is a contract one that can be kept? */
import type { Contract } from './contract.js'

export interface Finding {
  readonly level: 'error' | 'warning'
  readonly code: string
  readonly message: string
  readonly remedy: string
}

export function lintContract(contract: Contract): readonly Finding[] {
  void contract
  return []
}
