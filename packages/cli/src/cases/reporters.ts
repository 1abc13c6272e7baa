import { visibleText } from '@sluice/core'
import pc from 'picocolors'
import { countText } from '../output/text.js'
import type { CaseFailure, CaseOutcome } from './outcome.js'

/** Result of a run. */
export interface RunReport {
  readonly outcomes: readonly CaseOutcome[]
  readonly ms: number
}

/** Format of a report. */
export type ReporterName = 'spec' | 'tap' | 'junit'

type Colors = ReturnType<typeof pc.createColors>

/** Formats a report. */
export function formatReport(name: ReporterName, report: RunReport, hasColors: boolean): string {
  if (name === 'tap') return tap(report)
  return name === 'junit' ? junit(report) : spec(report, pc.createColors(hasColors))
}

/** Returns the counts of a run by status. */
export function countsOf({ outcomes }: RunReport): Record<CaseOutcome['status'], number> {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const { status } of outcomes) counts[status]++
  return counts
}

function spec(report: RunReport, colors: Colors): string {
  const lines: string[] = []
  let file = ''
  for (const outcome of report.outcomes) {
    if (outcome.file !== file)
      lines.push(...(file === '' ? [] : ['']), colors.bold(visibleText(outcome.file)))
    file = outcome.file
    lines.push(...caseLines(outcome, colors))
  }
  const { passed, failed, skipped } = countsOf(report)
  const parts = [
    colors.green(`${passed} passed`),
    ...(failed > 0 ? [colors.red(`${failed} failed`)] : []),
    ...(skipped > 0 ? [colors.yellow(`${skipped} skipped`)] : []),
  ]
  return `${lines.join('\n')}\n\n${parts.join(', ')} of ${countText(report.outcomes.length, 'case')} in ${(report.ms / 1000).toFixed(1)} s\n`
}

function caseLines(
  { status, name, ms, failures, file, line, skipped }: CaseOutcome,
  colors: Colors,
): string[] {
  const mark = { passed: colors.green('✓'), failed: colors.red('✗'), skipped: colors.yellow('-') }[status]
  const time = ms >= 100 ? colors.dim(` ${Math.round(ms)} ms`) : ''
  const place = status === 'failed' ? colors.dim(` ${visibleText(file)}:${line}`) : ''
  const reason = skipped === '' ? '' : colors.dim(` (${visibleText(skipped)})`)
  return [
    `  ${mark} ${visibleText(name)}${time}${place}${reason}`,
    ...failures.flatMap((failure) => failureLines(failure, colors)).map((text) => `      ${text}`),
  ]
}

function failureLines({ step, mismatches, notes }: CaseFailure, colors: Colors): string[] {
  return [
    visibleText(step),
    ...mismatches.flatMap(({ path, expected, actual }) => [
      `  ${colors.bold(visibleText(path))}`,
      `    expected  ${colors.green(visibleText(expected))}`,
      `    actual    ${colors.red(visibleText(actual))}`,
    ]),
    ...notes.map((note) => `  ${visibleText(note)}`),
  ]
}

const PLAIN = pc.createColors(false)

/** Formats a report as TAP 14. */
function tap({ outcomes }: RunReport): string {
  const lines = outcomes.flatMap((outcome, i) => {
    const { status, name, file, failures, skipped } = outcome
    const title = visibleText(`${file}: ${name}`).replaceAll(/[\\#]/g, '\\$&')
    const directive = status === 'skipped' ? ` # SKIP ${visibleText(skipped)}` : ''
    const details = failures.flatMap((failure) => failureLines(failure, PLAIN)).map((text) => `    ${text}`)
    return [
      `${status === 'failed' ? 'not ok' : 'ok'} ${i + 1} - ${title}${directive}`,
      ...(details.length === 0 ? [] : ['  ---', '  message: |', ...details, '  ...']),
    ]
  })
  return `${['TAP version 14', `1..${outcomes.length}`, ...lines].join('\n')}\n`
}

/** Formats a report in the XML format of JUnit that CI systems read. */
function junit(report: RunReport): string {
  const { outcomes, ms } = report
  const { failed, skipped } = countsOf(report)
  const cases = outcomes.map(({ name, file, line, ms: caseMs, status, failures, skipped: reason }) => {
    const text = failures.flatMap((failure) => failureLines(failure, PLAIN)).join('\n')
    const [first = ''] = failures.flatMap((failure) => failure.mismatches.map(({ path }) => path))
    const inner =
      status === 'failed'
        ? `<failure message="${escaped(first)}">${escaped(text)}</failure>`
        : status === 'skipped'
          ? `<skipped message="${escaped(reason)}"/>`
          : ''
    const attributes = `name="${escaped(name)}" classname="${escaped(file)}" file="${escaped(file)}" line="${line}" time="${(caseMs / 1000).toFixed(3)}"`
    return `    <testcase ${attributes}>${inner}</testcase>`
  })
  const counts = `tests="${outcomes.length}" failures="${failed}" skipped="${skipped}" time="${(ms / 1000).toFixed(3)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="gw test" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>\n',
  ].join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Characters that XML 1.0 forbids. `visibleText` escapes the others. */
const NOT_XML = /[\uFFFE\uFFFF]|\p{Surrogate}/gu

function escaped(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      visibleText(line)
        .replaceAll(NOT_XML, '\uFFFD')
        .replaceAll(/[&<>"]/g, (each) => ENTITIES[each]!),
    )
    .join('\n')
}
