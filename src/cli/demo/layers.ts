/** The five layers that can be switched on and off, and the sets of them that one storm is run with. */
export const LAYERS = ['ingress', 'queue', 'run', 'step', 'tool'] as const
export type Layer = (typeof LAYERS)[number]

/** One column of the table: a name, and the layers that are on. */
export interface Arm {
  readonly name: string
  readonly layers: readonly Layer[]
}

export const ALL: Arm = { name: 'all layers', layers: LAYERS }

export interface Columns {
  readonly without?: readonly Layer[]
  readonly only?: readonly Layer[]
  /** Leave out what is there for comparison. */
  readonly guarded?: boolean
}

const COMPARED: readonly Arm[] = [
  { name: 'no guards', layers: [] },
  { name: 'ingress only', layers: ['ingress'] },
]

/** The three that every storm is run with, and one more for each layer that was asked about. */
export function armsOf({ without = [], only = [], guarded = false }: Columns = {}): readonly Arm[] {
  return [
    ...(guarded ? [] : COMPARED),
    ALL,
    ...[...new Set(without)].map((layer) => ({
      name: `without ${layer}`,
      layers: LAYERS.filter((other) => other !== layer),
    })),
    ...[...new Set(only)]
      .filter((layer) => layer !== 'ingress' || guarded)
      .map((layer) => ({ name: `${layer} only`, layers: [layer] })),
  ]
}
