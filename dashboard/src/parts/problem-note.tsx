/** What went wrong, what it means, and what to do, in the server's own words. */
import type { Problem } from '../api.js'

export function ProblemNote({ problem }: { readonly problem: Problem }) {
  return (
    <div className="note bad" role="alert">
      <p>
        <strong>{sentence(problem.detail)}</strong> <code>{problem.code}</code>
      </p>
      <p>{sentence(problem.action)}</p>
    </div>
  )
}

function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase()
  return `${first}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`
}
