/**
 * Which parts of a payload make its identity. The canonical writer asks at every member and item it passes,
 * so that leaving something out needs no copy and touches nothing.
 */
export interface Lens {
  /** True: all of it counts. False: none of it. A lens: some of it. */
  member(name: string): Lens | boolean
  /** An item that does not count still keeps its place: the length of an array always counts. */
  item(index: number): Lens | boolean
  /** Does a value without members count, met where the lens goes on? */
  readonly leaf: boolean
}
