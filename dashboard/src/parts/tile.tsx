/** One figure, large enough for a wall, with what it counts. */
import type { ReactNode } from 'react'

export function Tile({
  name,
  about,
  tone = '',
  children,
}: {
  readonly name: string
  readonly about: string
  readonly tone?: 'good' | 'bad' | ''
  readonly children: ReactNode
}) {
  return (
    <div className={`tile ${tone}`}>
      <dt>{name}</dt>
      <dd>
        <b>{children}</b>
        <span className="quiet">{about}</span>
      </dd>
    </div>
  )
}
