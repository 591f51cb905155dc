/** What a table has under a name that came from outside. Every object answers to `constructor`, and means nothing. */
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
