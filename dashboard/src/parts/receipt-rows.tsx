/** Receipts in a list: where each is, what state it is in and since when. Each leads to its story. */
import type { ReactNode } from 'react'
import { linkToReceipt } from '../place.js'
import type { ReceiptView } from '../shapes.js'
import { dateTime, span } from '../wording.js'
import { StateBadge } from './state-badge.js'

export function ReceiptRows({
  receipts,
  nowMs,
  tell,
}: {
  readonly receipts: readonly ReceiptView[]
  readonly nowMs: number
  /** More about one of them. */
  readonly tell?: (receipt: ReceiptView) => ReactNode
}) {
  return (
    <ul className="rows">
      {receipts.map((receipt) => (
        <li key={`${receipt.tenant}\n${receipt.scope}\n${receipt.key}`}>
          <StateBadge state={receipt.state} />
          <a className="where" href={linkToReceipt(receipt)}>
            <b>{receipt.key}</b>
            <span>
              {receipt.scope} · {receipt.tenant}
            </span>
          </a>
          <span className="quiet when">
            {tell?.(receipt) ?? `attempt ${receipt.attempt} of ${receipt.maxAttempts}`}
            <br />
            <time dateTime={new Date(receipt.at).toISOString()} title={dateTime(receipt.at)}>
              for {span(nowMs - receipt.at)}
            </time>
          </span>
        </li>
      ))}
    </ul>
  )
}
