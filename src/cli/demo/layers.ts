/** The five layers that can be switched on and off, and the sets of them that one storm is run with. */
export const LAYERS = ['ingress', 'queue', 'run', 'step', 'tool'] as const
export type Layer = (typeof LAYERS)[number]

/** One column of the table: a name, and the layers that are on. */
export interface Arm {
  readonly name: string
  readonly layers: readonly Layer[]
}

export const ALL: Arm = { name: 'all layers', layers: LAYERS }

/** The three that every storm is run with, and one more for each layer that was asked about. */
export function armsOf(without: readonly Layer[] = [], only: readonly Layer[] = []): readonly Arm[] {
  return [
    { name: 'no guards', layers: [] },
    { name: 'ingress only', layers: ['ingress'] },
    ALL,
    ...[...new Set(without)].map((layer) => ({
      name: `without ${layer}`,
      layers: LAYERS.filter((other) => other !== layer),
    })),
    ...[...new Set(only)]
      .filter((layer) => layer !== 'ingress')
      .map((layer) => ({ name: `${layer} only`, layers: [layer] })),
  ]
}
