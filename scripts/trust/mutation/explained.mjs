/**
 * Mutants that survive for a reason: the change cannot be seen from outside, or only in how long something takes.
 * `code` is a piece of the line; `what` the changes that are meant, or all of the line where there is none.
 */
export const EXPLAINED = [
  {
    file: 'src/core/duration.ts',
    code: 'const read = remember({ most: 256, longest: 64 }',
    why: 'One more is remembered, or one a letter longer, with the same result.',
  },
  {
    file: 'src/core/errors.ts',
    code: '!== undefined) this.',
    what: 'condition always true',
    why: 'The member is declared, so it is there and undefined already; the condition is for the compiler.',
  },
  {
    file: 'src/core/intent.ts',
    code: 'if (address.tenant !== goodTenant)',
    what: 'condition always true',
    why: 'A name that was found good is checked again, with the same result.',
  },
  {
    file: 'src/core/intent.ts',
    code: 'if (address.scope !== goodScope)',
    what: 'condition always true',
    why: 'A name that was found good is checked again, with the same result.',
  },
  {
    file: 'src/core/intent.ts',
    code: 'if (!KNOWN.has(name)) onlyKnown',
    what: 'condition always true',
    why: 'All members are looked at once more, and nothing is found where each is known.',
  },
  {
    file: 'src/core/intent.ts',
    code: 'function isPrintableAscii',
    what: 'body emptied',
    why: 'Without the short way every name takes the long one, with the same result.',
  },
  {
    file: 'src/core/intent.ts',
    code: 'for (let i = 0; i < value.length; i++)',
    what: '< becomes <=',
    why: 'Behind the last character there is NaN, which is on neither side of any bound.',
  },
  {
    file: 'src/core/intent.ts',
    code: 'if (unit < 0x20 || unit > 0x7e) return false',
    what: ['condition always true', '< becomes <=', '0x20 becomes 33', '> becomes >=', 'returns nothing'],
    why: 'Some names, or all, take the long way without need, or no is said as undefined: the result is the same.',
  },
  {
    file: 'src/core/intent.ts',
    code: 'return true',
    what: ['returns nothing', 'true becomes false'],
    why: 'Without the short way every name takes the long one, with the same result.',
  },
  {
    file: 'src/core/receipt.ts',
    code: 'if (tenant !== lastTenant || scope !== lastScope)',
    what: 'condition always true',
    why: 'The front part is made anew each time, and is the same.',
  },
  {
    file: 'src/core/tagged.ts',
    code: 'for (const name in copy) if (isObject(copy[name]))',
    what: 'condition always true',
    why: 'A copy of what is no object is that itself.',
  },
  {
    file: 'src/core/tagged.ts',
    code: 'for (let i = 0; i < mine.length; i++)',
    what: '< becomes <=',
    why: 'The arrays are equally long: behind the end both are undefined, and equal.',
  },
  {
    file: 'src/key/identity.ts',
    code: 'if (found) return found',
    what: 'condition always false',
    why: 'An identity that is remembered is read again, with the same result.',
  },
  {
    file: 'src/key/kind.ts',
    code: 'if (prototype === Array.prototype && Array.isArray(value))',
    why: 'The short way for arrays: the long one finds them as well.',
  },
  { file: 'src/key/names.ts', code: 'const FEW = 24', why: 'Both sorts give the same order.' },
  {
    file: 'src/key/names.ts',
    code: 'if (names.length > FEW) return names.sort()',
    why: 'Both sorts give the same order.',
  },
  {
    file: 'src/key/names.ts',
    code: 'if (name.charCodeAt(0) === DOLLAR && RESERVED.test(name))',
    what: ['&& becomes ||', '0 becomes 1', 'condition always true'],
    why: 'Names that need no comparing as written are compared so, with the same result.',
  },
  {
    file: 'src/key/names.ts',
    code: 'while (at > 0 && (names[at - 1] as string) > name)',
    what: '> becomes >=',
    why: 'Names of one object are never equal, and nothing is greater than what stands before the first.',
  },
  {
    file: 'src/key/names.ts',
    code: 'const LIMITS = ',
    why: 'One more is remembered, or one a letter longer, with the same result.',
  },
  {
    file: 'src/key/paths.ts',
    code: "if (head === '*' || head === undefined || named.has(head)) continue",
    what: ['condition always false', '|| becomes &&'],
    why: 'What is named once is read again, with the same result; what is kept under a star is what all others get.',
  },
  {
    file: 'src/key/scan.ts',
    code: 'if (scan.text[scan.at] !== character) return false',
    what: 'returns nothing',
    why: 'No is said as undefined.',
  },
  {
    file: 'src/key/scan.ts',
    code: 'let escaped = false',
    why: 'A text without an escape is unescaped, and is the same.',
  },
  {
    file: 'src/key/scan.ts',
    code: 'const text = escaped ? unescape(',
    what: 'condition always true',
    why: 'A text without an escape is unescaped, and is the same.',
  },
  {
    file: 'src/key/scan.ts',
    code: 'if (token.length > SURELY_EXACT &&',
    what: '> becomes >=',
    why: 'Integers of fifteen characters are compared without need, and are exact.',
  },
  {
    file: 'src/key/schema-node.ts',
    code: 'sets.filter((branches) => branches.length > 0)',
    what: '> becomes >=',
    why: 'A set of no alternatives marks nothing; it only makes the way longer.',
  },
  {
    file: 'src/key/schema-node.ts',
    code: 'if (done.has(node)) return',
    what: 'condition always false',
    why: 'A part that was found free of loops is looked at again, with the same result.',
  },
  {
    file: 'src/key/schema.ts',
    code: 'if (node === undefined) return true',
    what: 'returns nothing',
    why: 'Without a lens everything counts, as with true; how much does is asked only where paths are included.',
  },
  {
    file: 'src/key/schema.ts',
    code: 'return nodes.length <= 1 ? nodes[0]',
    what: '<= becomes <',
    why: 'One that stands alone stands alone in a list, which says the same.',
  },
  {
    file: 'src/key/schema.ts',
    code: 'if (found !== undefined) return found',
    what: 'condition always false',
    why: 'A view that is remembered is made again, with the same result.',
  },
  {
    file: 'src/key/schema.ts',
    code: 'if (node.all.length === 0 && node.any.length === 0) return pick(node)',
    what: 'condition always false',
    why: 'The short way for a schema without parts: the long one comes to the same.',
  },
  {
    file: 'src/key/schema.ts',
    code: 'if (node.patterns.length === 0) return',
    what: 'condition always false',
    why: 'The short way for a schema without patterns: the long one comes to the same.',
  },
  {
    file: 'src/key/writer.ts',
    code: 'return NEEDS_ESCAPE.test(value) ? escapeString(',
    what: 'condition always true',
    why: 'A text that needs no escape is escaped, and is the same.',
  },
  {
    file: 'src/key/writer.ts',
    code: 'for (let i = 0; i < names.length; i++)',
    what: '< becomes <=',
    why: 'Behind the last name there is undefined, under which nothing lies: it is left out.',
  },
]
