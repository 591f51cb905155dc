/** A stored value as a person reads it. */
export function Json({ value, name }: { readonly value: unknown; readonly name: string }) {
  return (
    <pre className="json" aria-label={name} tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  )
}
