/** What a table has under a name that came from outside: every object answers to `constructor`, and means nothing by it. */
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
