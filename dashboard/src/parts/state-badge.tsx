/** The state of a receipt, as a word with a colour. The word is enough without the colour. */
import type { State } from '../shapes.js'
import { STATE_MEANS, STATE_WORDS } from '../wording.js'

export function StateBadge({ state }: { readonly state: State }) {
  return (
    <span className={`badge ${state}`} title={STATE_MEANS[state]}>
      {STATE_WORDS[state]}
    </span>
  )
}
