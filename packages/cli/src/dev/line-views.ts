import pc from 'picocolors'
import { hasColors, print, printText, visibleLines } from '../output/output.js'
import { countText } from '../output/text.js'
import type { DevEvent, DevView, Serving } from './dev-event.js'
import { type RequestRow, timeOfDay } from './request-row.js'

/** Shows events as lines, for pipes and CI. */
export class LineView implements DevView {
  readonly #document: string
  #mocks = ''

  constructor(document: string) {
    this.#document = document
  }

  show(event: DevEvent): void {
    if (event.kind === 'started') print(...addressLines(event))
    else for (const line of eventLines(event, this.#document)) printText(`${line}\n`)
    if (event.kind === 'started' || event.kind === 'applied') this.#showMocks(event.mocks)
  }

  /** Prints the mocks if they have changed. */
  #showMocks(mocks: Serving['mocks']): void {
    const lines = mockLines(mocks)
    if (lines.join() === this.#mocks) return
    this.#mocks = lines.join()
    print(...(lines.length === 0 ? ['no mocks: all upstreams are reachable'] : lines))
  }

  close(): void {}
}

/** Prints events as JSON, one per line. A request contains its whole record. */
export class JsonView implements DevView {
  show(event: DevEvent): void {
    printText(`${JSON.stringify(event.kind === 'request' ? requestValue(event.row) : event)}\n`)
  }

  close(): void {}
}

function requestValue({ record, isMocked: mocked, policies }: RequestRow): object {
  return { kind: 'request', mocked, policies, record }
}

function addressLines({ gateway, dashboard }: Serving): string[] {
  return [`gateway    ${gateway}`, ...(dashboard === null ? [] : [`dashboard  ${dashboard}`])]
}

/** Returns a line for each mock. */
export function mockLines(mocks: Serving['mocks']): string[] {
  return mocks.map(({ name, targets, hasExamples }) => {
    const answers = hasExamples ? 'examples of its OpenAPI description' : 'an echo of the request'
    return `mock       upstream ${name} (${targets.join(', ')}): ${answers}`
  })
}

/** Returns the lines of an event, coloured if the terminal supports it. */
function eventLines(event: Exclude<DevEvent, { kind: 'started' }>, document: string): string[] {
  const colors = pc.createColors(hasColors())
  const time = colors.dim(timeOfDay(new Date()))
  if (event.kind === 'request') return [requestLine(event.row, colors)]
  if (event.kind === 'message') {
    const tone = { info: String, warn: colors.yellow, error: colors.red }[event.level]
    return visibleLines(event.text)
      .split('\n')
      .map((line) => `${time} ${tone(line)}`)
  }
  if (event.kind === 'mistakes') {
    const lines = event.lines.map((line) => `${time} ${colors.red(visibleLines(line))}`)
    return [...lines, `${time} ${colors.yellow(stateAfterMistakes(event.isServing))}`]
  }
  const { changes, warnings } = event
  return [
    ...warnings.map((line) => `${time} ${colors.yellow(visibleLines(line))}`),
    `${time} ${colors.green(visibleLines(`${document}: ${appliedText(changes)}`))}`,
  ]
}

/** Describes the state of the gateway while the document has errors. */
export function stateAfterMistakes(isServing: boolean): string {
  return isServing
    ? 'the previous document stays active until the errors are fixed'
    : 'the gateway starts when the errors are fixed'
}

/** Describes an applied document by its number of changes. */
export function appliedText(changes: number): string {
  return changes === 0 ? 'valid, no changes' : `applied, ${countText(changes, 'change')}`
}

function requestLine(row: RequestRow, colors: ReturnType<typeof pc.createColors>): string {
  const { time, method, path, route, policies, status, ms, isMocked, problem } = row
  const tone = status >= 500 ? colors.red : status >= 400 ? colors.yellow : colors.green
  const parts = [
    `${method} ${path}`,
    route === '' ? 'no route' : route,
    policies,
    `${tone(String(status))}${isMocked ? ' mock' : ''}`,
    `${ms.toFixed(1)} ms`,
    problem,
  ]
  return `${colors.dim(time)} ${parts.filter((part) => part !== '').join('  ')}`
}
