/** The types of scenarios.mjs, for the tests that play them. */
export interface Peer {
  /** The file of the package, as a URL. */
  readonly module: string
  readonly settings: { readonly folder: string; readonly lockMs: number; readonly url: string }
}

export interface Seen {
  readonly good: boolean
  readonly text: string
}

export function zombie(peer: Peer): Promise<Seen>
export function mismatch(peer: Peer): Promise<Seen>
export function crash(peer: Peer): Promise<Seen>
export function tenants(peer: Peer): Promise<Seen>
export function operations(peer: Peer): Promise<Seen>
