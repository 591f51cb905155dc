/** A row that sees nothing, for the proof that the table says so. It is run only when it is asked for by name. */
export const blind = {
  id: 'blind',
  property: 'A row that sees nothing',
  run: () =>
    Promise.resolve({ ran: { looks: 1 }, tried: 1, violations: 0, control: { planted: 1, caught: 0 } }),
}
