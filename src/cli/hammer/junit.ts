/** The verdicts as JUnit XML, which every CI reads: a test case each, with the calls that show a violation. */
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { invalidIntent } from '../../core/errors.js'
import type { CheckReport, Verdict } from '../../testing/index.js'

/** Before anything is sent: a report that cannot be kept would be the end of a run for nothing. */
export function mustBeWritable(file: string): void {
  const wasThere = existsSync(file)
  try {
    closeSync(openSync(file, 'a'))
    if (!wasThere) rmSync(file)
  } catch (error) {
    throw invalidIntent(
      `--junit names ${file}, which cannot be written: ${(error as Error).message}`,
      'give a file',
    )
  }
}

export function writeJunit(file: string, report: CheckReport): void {
  writeFileSync(file, junit(report))
}

function junit({ target, verdicts, violated, notTested }: CheckReport): string {
  const totals = `tests="${verdicts.length}" failures="${violated}" errors="0" skipped="${notTested}"`
  const seconds = secondsOf(verdicts.reduce((sum, { durationMs }) => sum + durationMs, 0))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="ibid hammer" ${totals} time="${seconds}">`,
    `  <testsuite name=${quoted(target)} ${totals} time="${seconds}">`,
    ...verdicts.map(testcase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testcase(verdict: Verdict): string {
  const { property, about, durationMs, sequence } = verdict
  const name = `name=${quoted(about)} classname=${quoted(`hammer.${property}`)}`
  const head = `    <testcase ${name} time="${secondsOf(durationMs)}"`
  if (verdict.verdict === 'held') return `${head}/>`
  const inner =
    verdict.verdict === 'violated'
      ? `<failure message=${quoted(verdict.saw)} type="violated">${escaped(sequence.join('\n'))}</failure>`
      : `<skipped message=${quoted(verdict.why)}/>`
  return `${head}>${inner}</testcase>`
}

function secondsOf(ms: number): string {
  return (ms / 1_000).toFixed(3)
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('\n', '&#10;')}"`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/**
 * What XML 1.0 cannot hold in any form: control characters, halves of surrogate pairs, two that are no
 * characters.
 */
const IMPOSSIBLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

function escaped(text: string): string {
  return text.replaceAll(IMPOSSIBLE, '\ufffd').replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}
