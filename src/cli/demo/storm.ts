/**
 * The storm: which charges are refunded, and what goes wrong with each. All of it follows from the seed, so that the
 * same storm can be sent against every set of layers. Troubles are dealt like cards: their number is fixed, and about
 * half of the charges get one or more. With one kind of trouble alone it is a laboratory: what comes twice
 * then has no other reason.
 */
import { type Random, random } from '../../testing/random.js'

export const TROUBLES = [
  'webhook-retry',
  'redelivery',
  'time-out',
  're-planning',
  'parallel-clicks',
  'deploy-kill',
] as const
export type Trouble = (typeof TROUBLES)[number]

export type KillPoint = 'before refund' | 'after refund' | 'after mail'

/** What the refund agent is asked to do: the same whoever asks. */
export interface Order {
  readonly charge: string
  readonly amountCents: number
  readonly customer: string
}

export interface Charge extends Order {
  readonly startMs: number
  readonly troubles: readonly Trouble[]
  /** The webhook is delivered again at these times, although it was answered: the answer got lost. */
  readonly copiesMs: readonly number[]
  /** Acknowledgements of the message that the queue loses. */
  readonly lostAcks: number
  /** Refunds that the ledger makes without answering. */
  readonly ledgerSilences: number
  /** E-mails that are sent without an answer. */
  readonly mailSilences: number
  /** How often the model calls the tool again, in other words. */
  readonly replans: number
  /** Clicks on the refund button of the support page, all at once: the form that each comes from. */
  readonly clicks: readonly string[]
  /** When the deploy catches the instance that works on it. */
  readonly kill: KillPoint | undefined
  /** Can the ledger be asked what became of this refund? */
  readonly hasLookup: boolean
}

export interface Storm {
  readonly seed: number
  readonly charges: readonly Charge[]
  /** Instances that are killed whatever they are doing. */
  readonly deploys: readonly { readonly atMs: number; readonly slot: number }[]
  readonly instances: number
}

type Dealt = { -readonly [Field in keyof Charge]: Charge[Field] }

interface Card {
  readonly trouble: Trouble
  /** For every thirty refunds. */
  readonly count: number
  readonly put: (charge: Dealt, chance: Random) => void
}

const FORMS = [
  ['a', 'a'],
  ['a', 'b'],
  ['a', 'a', 'b'],
] as const

const CARDS: readonly Card[] = [
  {
    trouble: 'webhook-retry',
    count: 4,
    put(charge, chance) {
      const copies = 1 + Math.floor(chance.next() * 2)
      charge.copiesMs = Array.from({ length: copies }, () => charge.startMs + chance.next() * 600)
    },
  },
  {
    trouble: 'redelivery',
    count: 3,
    put: (charge, chance) => (charge.lostAcks = 1 + Math.floor(chance.next() * 2)),
  },
  { trouble: 'time-out', count: 3, put: (charge) => (charge.ledgerSilences = 1) },
  { trouble: 'time-out', count: 1, put: (charge) => (charge.mailSilences = 1) },
  {
    trouble: 're-planning',
    count: 3,
    put: (charge, chance) => (charge.replans = 1 + Math.floor(chance.next() * 2)),
  },
  {
    trouble: 'parallel-clicks',
    count: 3,
    put: (charge, chance) => (charge.clicks = FORMS[Math.floor(chance.next() * FORMS.length)] ?? []),
  },
  { trouble: 'deploy-kill', count: 2, put: (charge) => (charge.kill = 'after refund') },
  { trouble: 'deploy-kill', count: 1, put: (charge) => (charge.kill = 'after mail') },
  { trouble: 'deploy-kill', count: 1, put: (charge) => (charge.kill = 'before refund') },
]

const USUAL = 30
const INSTANCES = 3
const DEPLOYS = 2
const ARRIVALS_MS = 2_000
/** The share of charges that something happens to. */
const UNLUCKY = 16 / USUAL

export function makeStorm(seed: number, refunds: number, troubles: readonly Trouble[] = TROUBLES): Storm {
  const chance = random(seed)
  const charges = Array.from({ length: refunds }, (_, at) => calm(seed, at, chance))
  const share = refunds / USUAL
  const [mute, ...others] = chance.shuffle(charges)
  const unlucky = others.slice(0, Math.max(1, Math.round(refunds * UNLUCKY)))
  const isWhole = troubles.length === TROUBLES.length
  const cards = CARDS.filter(({ trouble }) => troubles.includes(trouble)).flatMap((card) =>
    Array.from({ length: Math.max(1, Math.round(card.count * share)) * (isWhole ? 1 : 2) }, () => card),
  )
  for (const [at, card] of chance.shuffle(cards).entries()) {
    // First everybody one, then whom it hits.
    const charge = unlucky[at] ?? unlucky[Math.floor(chance.next() * unlucky.length)]
    if (!charge) continue
    card.put(charge, chance)
    charge.troubles = [...new Set([...charge.troubles, card.trouble])]
  }
  // The one that nobody can look up, and that times out.
  if (mute && isWhole) Object.assign(mute, { hasLookup: false, ledgerSilences: 1 })
  return {
    seed,
    charges,
    deploys: Array.from({ length: isWhole ? DEPLOYS : 0 }, () => ({
      atMs: 200 + chance.next() * ARRIVALS_MS,
      slot: Math.floor(chance.next() * INSTANCES),
    })),
    instances: INSTANCES,
  }
}

function calm(seed: number, at: number, chance: Random): Dealt {
  return {
    charge: `ch_${seed}_${at + 1}`,
    amountCents: 500 + Math.floor(chance.next() * 20_000),
    customer: `customer-${at + 1}@example.com`,
    startMs: chance.next() * ARRIVALS_MS,
    troubles: [],
    copiesMs: [],
    lostAcks: 0,
    ledgerSilences: 0,
    mailSilences: 0,
    replans: 0,
    clicks: [],
    kill: undefined,
    hasLookup: true,
  }
}
