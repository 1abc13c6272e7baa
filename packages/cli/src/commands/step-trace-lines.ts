import { visibleText } from '@sluice/core'
import pc from 'picocolors'
import type { AnswerPart } from '../admin/answer-part.js'

interface LineOptions {
  /** Name of the pod, or empty. */
  readonly pod: string
  /** Width of the terminal in characters, or infinity, so that no line is cut. */
  readonly width: number
  readonly hasColors: boolean
}

type Colors = ReturnType<typeof pc.createColors>

/** Maximum width of a line with several parts. Wider lines are harder to read. */
const MAX_WIDTH = 100
/** Bounds of the column of names. */
const MIN_NAME = 16
const MAX_NAME = 28
const OUTCOME_WIDTH = 12
const MICROS_WIDTH = 9
const GAP = '   '

/** Formats the trace of one request for people: a heading, and the steps with what they changed by phase. */
export function stepTraceLines(trace: AnswerPart, { pod, width, hasColors }: LineOptions): string[] {
  const colors = pc.createColors(hasColors)
  const lines = [...headLines(trace, width, colors), cut(`  ${detailsOf(trace, pod).join(GAP)}`, width)]
  const route = trace.text('route')
  const names = trace.parts('steps').map((step) => visibleText(nameOf(step, route)).length)
  const nameWidth = Math.min(Math.max(MIN_NAME, ...names), MAX_NAME)
  let phase = ''
  for (const step of trace.parts('steps')) {
    if (step.text('phase') !== phase) {
      phase = step.text('phase')
      lines.push(colors.dim(`  ${visibleText(phase.replace('_', ' '))}`))
    }
    lines.push(...stepLines(step, { route, nameWidth, width, colors }))
  }
  if (trace.parts('steps').length === 0) lines.push('  no policies ran')
  const lost = trace.number('lostSteps')
  if (lost > 0) lines.push(`  ${lost} steps or their changes are left out`)
  return lines
}

function headLines(trace: AnswerPart, width: number, colors: Colors): string[] {
  const query = trace.text('query')
  const request = visibleText(
    `${trace.text('method')} ${trace.text('path')}${query === '' ? '' : `?${query}`}`,
  )
  const status = trace.number('status')
  const answer = visibleText(`→ ${status} ${trace.text('code')}`.trimEnd())
  const rest = visibleText(`${GAP}route ${trace.text('route')}${GAP}${trace.number('ms').toFixed(1)} ms`)
  const tone = status >= 500 ? colors.red : status >= 400 ? colors.yellow : colors.green
  const isShort = request.length + answer.length + rest.length + 2 <= Math.min(width, MAX_WIDTH)
  if (isShort) return [`${colors.bold(request)}  ${tone(answer)}${rest}`]
  return [colors.bold(cut(request, width)), `  ${tone(answer)}${cut(rest, width - answer.length - 2)}`]
}

function detailsOf(trace: AnswerPart, pod: string): string[] {
  const upstream = trace.partOrNull('upstream')
  const traceId = trace.text('traceId')
  return [
    `id ${trace.text('id')}`,
    ...(traceId === '' ? [] : [`trace ${traceId}`]),
    ...(pod === '' ? [] : [pod]),
    `worker ${trace.number('worker')}`,
    ...(upstream === null ? [] : [`upstream ${upstream.text('name')} ${upstream.text('target')}`]),
  ].map(visibleText)
}

interface StepOptions {
  readonly route: string
  readonly nameWidth: number
  readonly width: number
  readonly colors: Colors
}

function stepLines(step: AnswerPart, { route, nameWidth, width, colors }: StepOptions): string[] {
  const outcome = step.text('outcome')
  const note = step.text('note')
  // The heading has the code of a refusal.
  const short = visibleText(
    outcome === 'respond' ? `respond ${note.split(' ')[0]}` : `${outcome} ${note}`.trimEnd(),
  )
  const tone = { respond: colors.yellow, error: colors.red, skipped: colors.dim }[outcome] ?? String
  const name = cut(visibleText(nameOf(step, route)), MAX_NAME)
  const start = `    ${name.padEnd(nameWidth)} ${tone(short.padEnd(OUTCOME_WIDTH))}`
  const line = `${start}${`${step.number('micros')} µs`.padStart(MICROS_WIDTH)}`
  const used = 5 + Math.max(name.length, nameWidth) + Math.max(short.length, OUTCOME_WIDTH) + MICROS_WIDTH
  const changes = step.parts('changes').map((change) => changeLines(change, step.text('phase')))
  const texts = changes.flatMap(([first]) => first ?? '')
  const hasDiff = changes.some((lines) => lines.length > 1)
  const joined = texts.join(GAP)
  if (!hasDiff && used + GAP.length + joined.length <= Math.min(width, MAX_WIDTH))
    return [`${line}${texts.map((text) => GAP + toned(text, colors)).join('')}`]
  return [line, ...changes.flat().map((text) => `        ${toned(cut(text, width - 8), colors)}`)]
}

/** Returns the id of a policy with its name in the catalog. An id that the gateway has assigned is left out. */
function nameOf(step: AnswerPart, route: string): string {
  const id = step.text('policy')
  const use = step.text('use')
  if (use === '' || use === id) return id
  return id.startsWith(`${route}/`) ? use : `${id} (${use})`
}

/** Returns a change as a line, and the lines of its diff. */
function changeLines(change: AnswerPart, phase: string): string[] {
  const what = change.text('what')
  const side = change.text('side')
  const name = change.text('name')
  const where = phase.startsWith('response') === (side === 'response') || what === 'status' ? '' : `${side} `
  if (what === 'filter') return [`~ ${where}body: changed while it is sent`]
  const label = visibleText(where + (what === 'header' ? name : what === 'variable' ? `vars.${name}` : what))
  const before = change.textOrNull('before')
  const after = change.textOrNull('after')
  const diff =
    change.value['diff'] === null ? null : change.texts('diff').map((line) => `  ${visibleText(line)}`)
  const isHidden = what === 'body' && diff === null
  const values = [before, after].flatMap((value) => (value === null ? [] : [visibleText(value)])).join(' → ')
  const mark = before === null ? (after === null ? '~' : '+') : after === null ? '-' : '~'
  return [`${mark} ${label}: ${values}${isHidden ? ' (not shown)' : ''}`, ...(diff ?? [])]
}

/** Colours a line by its first mark, like a diff. */
function toned(line: string, colors: Colors): string {
  const mark = line.trimStart()[0]
  if (mark === '+') return colors.green(line)
  if (mark === '-') return colors.red(line)
  return mark === '~' ? colors.yellow(line) : line
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}
