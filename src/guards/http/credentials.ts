/**
 * Who calls, as far as its credentials say; to be hashed, because a token is nobody's name. Null: nothing says it.
 * Undefined: nothing but cookies does. Which of them is the session only the server knows: all browsers as one caller
 * would get each other's answers, and a hash of every cookie would make a retry new as soon as one of them changed.
 */
export function credentialsIn(
  header: (name: 'authorization' | 'x-api-key' | 'cookie') => string | null | undefined,
): string | null | undefined {
  const given = [header('authorization') ?? '', header('x-api-key') ?? '']
  if (given.some((one) => one !== '')) return JSON.stringify(given)
  return (header('cookie') ?? '') === '' ? null : undefined
}
