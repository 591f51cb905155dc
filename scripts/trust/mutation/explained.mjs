/**
 * Mutants that survive for a reason: the change cannot be seen from outside, or only in how long something takes.
 * `code` is a piece of the line; `what` the changes that are meant, or all of the line where there is none.
 */
export const EXPLAINED = [
  {
    file: 'src/core/duration.ts',
    code: 'const MOST_KNOWN = 256',
    why: 'One more is remembered; the test says that there is a limit, and leaves room below it.',
  },
  {
    file: 'src/core/duration.ts',
    code: 'if (ms !== undefined) return ms',
    what: 'condition always false',
    why: 'A duration that is remembered is read again, with the same result.',
  },
  {
    file: 'src/core/duration.ts',
    code: 'if (!match) return Number.NaN',
    what: 'returns nothing',
    why: 'Undefined is no finite number either, and is refused with the same words.',
  },
  {
    file: 'src/core/duration.ts',
    code: 'if (known.size < MOST_KNOWN)',
    what: ['condition always false', '< becomes <=', '< becomes >='],
    why: 'Fewer are remembered, or one more: a duration is read again, with the same result.',
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
    code: "if (name === '__proto__') Object.defineProperty(",
    what: 'condition always true',
    why: 'A member that is defined with all three marks is the same as one that is assigned.',
  },
  {
    file: 'src/core/tagged.ts',
    code: 'for (let i = 0; i < mine.length; i++)',
    what: '< becomes <=',
    why: 'The arrays are equally long: behind the end both are undefined, and equal.',
  },
]
