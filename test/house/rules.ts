/**
 * The tidy rules, as data: what a rule looks at, what it finds there, and a breach that it must find. A new rule
 * is one more entry.
 */
import { dirname, join } from 'node:path'
import { existsSync } from 'node:fs'
import { root } from './files.js'

export interface Rule {
  readonly name: string
  readonly looksAt: (path: string) => boolean
  /** Problems in this file, each with its line where it has one. */
  readonly find: (path: string, text: string) => readonly string[]
  /** A file that breaks the rule, for the proof that the rule notices. */
  readonly breach: { readonly path: string; readonly text: string }
}

const MOST_LINES = 300
const MOST_COLUMNS = 120

const isSource = (path: string): boolean => /^(src|dashboard)\/.*\.tsx?$/.test(path)
const isCode = (path: string): boolean => /\.(tsx?|mjs|js|css)$/.test(path)
const isPage = (path: string): boolean => path.endsWith('.md')
/** The rules themselves name what they forbid. */
const isRule = (path: string): boolean => path === 'test/house/rules.ts'
const isText = (path: string): boolean =>
  !isRule(path) && path !== 'package-lock.json' && path !== 'LICENSE' && !path.endsWith('.png')

/** The formatter cannot break a string: a line that is nothing else may be as long as it needs to be. */
const ONE_STRING = /^\s*(?:[\w$.]+: )?(?<quote>['"`]).*\k<quote>[,)]*$/

function lines(text: string, pattern: RegExp): string[] {
  return text
    .split('\n')
    .flatMap((line, at) => (pattern.test(line) ? [`line ${at + 1}: ${line.trim()}`] : []))
}

export const RULES: readonly Rule[] = [
  {
    name: `a file has at most ${MOST_LINES} lines`,
    looksAt: isCode,
    find: (_path, text) => {
      const count = text.split('\n').length - 1
      return count > MOST_LINES ? [`${count} lines: it is two things, find the second`] : []
    },
    breach: { path: 'src/core/long.ts', text: '/** Long. */\n'.repeat(MOST_LINES + 1) },
  },
  {
    name: `a line has at most ${MOST_COLUMNS} columns, unless it is one string`,
    looksAt: isCode,
    find: (_path, text) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          line.length > MOST_COLUMNS && !ONE_STRING.test(line)
            ? [`line ${at + 1}: ${line.length} columns`]
            : [],
        ),
    breach: { path: 'src/core/wide.ts', text: `// ${'wide '.repeat(30)}\n` },
  },
  {
    name: 'a module opens with a comment that says what it is for',
    looksAt: isSource,
    find: (_path, text) => (/^(#!.*\n)?\/\*\*/.test(text) ? [] : ['no header']),
    breach: { path: 'src/core/bare.ts', text: 'export const bare = 1\n' },
  },
  {
    name: 'no TODO is left over',
    looksAt: isText,
    find: (_path, text) => lines(text, /\b(TODO|FIXME|XXX|HACK)\b/),
    breach: { path: 'src/core/later.ts', text: '// TODO: later\n' },
  },
  {
    name: 'a file is named after the one thing it explains',
    looksAt: isCode,
    find: (path) =>
      /(^|\/)(utils?|helpers?|common|types|misc|shared)(\/|\.(tsx?|mjs|js|css)$)/.test(path)
        ? ['a bucket']
        : [],
    breach: { path: 'src/core/utils.ts', text: '' },
  },
  {
    name: 'no test is skipped or run alone',
    looksAt: (path) => path.endsWith('.test.ts'),
    find: (_path, text) =>
      lines(text, /\b(test|it|describe|suite|bench)(\.\w+)*\.(skip|skipIf|runIf|only|todo|fails)\b/),
    breach: { path: 'test/lazy.test.ts', text: "test.concurrent.skip('later', () => {})\n" },
  },
  {
    name: 'src throws no bare Error',
    looksAt: isSource,
    find: (_path, text) => lines(text, /\bthrow (new )?Error\(/),
    breach: { path: 'src/engine/bare.ts', text: "throw new Error('oops')\n" },
  },
  {
    name: "no folder of somebody's machine is mentioned",
    looksAt: isText,
    find: (_path, text) => lines(text, /(^|[\s'"`(=])\/(work|root|home|mnt|Users)\//),
    breach: { path: 'docs/where.md', text: 'see /home/me/notes\n' },
  },
  {
    name: 'a page that is mentioned is there',
    looksAt: isText,
    find: (_path, text) =>
      [...text.matchAll(/(?<![\w/-])[A-Z]{3,}\.md\b/g)]
        .map(([page]) => page)
        .filter((page) => !existsSync(join(root, page)))
        .map((page) => `there is no ${page}`),
    breach: { path: 'src/core/lost.ts', text: '/** See PLAN.md. */\n' },
  },
  {
    name: 'no word praises or fills',
    looksAt: (path) => isPage(path) || isSource(path),
    find: (_path, text) =>
      lines(
        text,
        /\b(seamless|seamlessly|effortless|effortlessly|blazing|leverages?|lorem ipsum|cutting-edge)\b/i,
      ),
    breach: { path: 'README.md', text: 'A seamless experience.\n' },
  },
  {
    name: 'a link in a page leads somewhere',
    looksAt: isPage,
    find: (path, text) => deadLinks(path, text),
    breach: { path: 'docs/links.md', text: 'See [there](../nowhere.md).\n' },
  },
]

function deadLinks(path: string, text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((target) => !/^(https?:|mailto:|#)/.test(target))
    .filter((target) => !existsSync(join(root, dirname(path), decodeURI(target.replace(/#.*$/, '')))))
    .map((target) => `dead link: ${target}`)
}
