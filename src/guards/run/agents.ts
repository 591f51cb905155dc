/**
 * The code that this worker has for agents. Code for one tenant comes before code for all: the ticks of two tenants may
 * share a name, and a tick that is taken up must not run what was meant for the other one.
 */
import type { Body } from './run.js'
import type { RunPolicy, RunTerms } from './terms.js'

export interface Registered {
  readonly body: Body<unknown>
  readonly terms: RunTerms
  /** Its own, for terms in which a call declares something else. */
  readonly policy?: RunPolicy | undefined
}

export interface Agents {
  /** Without a tenant: for all that have no code of their own. */
  set(agent: string, tenant: string | undefined, registered: Registered): void
  find(agent: string, tenant: string | undefined): Registered | undefined
  names(): Iterable<string>
}

export function createAgents(): Agents {
  const known = new Map<string, Map<string | undefined, Registered>>()
  return {
    set(agent, tenant, registered) {
      const byTenant = known.get(agent) ?? new Map<string | undefined, Registered>()
      known.set(agent, byTenant.set(tenant, registered))
    },
    find(agent, tenant) {
      const byTenant = known.get(agent)
      return byTenant?.get(tenant) ?? byTenant?.get(undefined)
    },
    names: () => known.keys(),
  }
}
