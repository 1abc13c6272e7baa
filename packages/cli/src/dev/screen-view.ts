import { FullScreen } from '../output/full-screen.js'
import { visibleLines } from '../output/output.js'
import { tableLines } from '../output/table.js'
import { countText } from '../output/text.js'
import { keysIn } from '../top/view-state.js'
import type { DevEvent, DevView, Serving } from './dev-event.js'
import { appliedText, stateAfterMistakes } from './line-views.js'
import { type RequestRow, timeOfDay } from './request-row.js'
import { afterKey, listedRows, type ScreenState, START, selectedRow } from './screen-state.js'

/** Options for `ScreenView`. */
export interface ScreenOptions {
  readonly document: string
  /** Returns the page of a request. It may contain colours. */
  readonly page: (row: RequestRow, width: number) => readonly string[]
  /** Called when the user ends the view. */
  readonly onDone: () => void
}

/** Maximum number of requests in memory. */
const MAX_ROWS = 1000
/** Maximum number of messages and document errors on the screen. */
const MAX_MESSAGES = 4
const MAX_MISTAKES = 8
/** Minimum time in milliseconds between two redraws. */
const DRAW_MS = 50
const HEADINGS = ['#', 'TIME', 'METHOD', 'PATH', 'ROUTE', 'POLICIES', 'STATUS', 'MS', '']
const LIST_KEYS = 'up/down or number, enter open · c clear · o dashboard · q quit'
const PAGE_KEYS = 'up/down scroll · esc back · q quit'
const [BOLD, RED, YELLOW, GREEN, INVERSE, RESET] = ['1', '31', '33', '32', '7', '0'].map(
  (code) => `\u001b[${code}m`,
)

/** Shows requests and document errors on the whole terminal. */
export class ScreenView implements DevView {
  readonly #options: ScreenOptions
  readonly #screen: FullScreen
  #state: ScreenState = START
  #rows: RequestRow[] = []
  #serving: Serving | null = null
  #mistakes: Extract<DevEvent, { kind: 'mistakes' }> | null = null
  #messages: string[] = []
  #timer: NodeJS.Timeout | null = null

  constructor(options: ScreenOptions) {
    this.#options = options
    this.#screen = new FullScreen((input) => this.#onKeys(input))
    this.#draw()
  }

  show(event: DevEvent): void {
    if (event.kind === 'request') this.#rows = [...this.#rows, event.row].slice(-MAX_ROWS)
    else if (event.kind === 'mistakes') this.#mistakes = event
    else if (event.kind === 'message') this.#say(event.text)
    else {
      this.#serving = event
      this.#mistakes = null
      if (event.kind === 'applied') {
        for (const warning of event.warnings) this.#say(warning)
        this.#say(`${this.#options.document}: ${appliedText(event.changes)}`)
      }
    }
    this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#screen.close()
  }

  #say(text: string): void {
    const lines = visibleLines(text).split('\n')
    const time = timeOfDay(new Date())
    this.#messages = [...this.#messages, ...lines.map((line) => `${time} ${line}`)].slice(-MAX_MESSAGES)
  }

  #onKeys(input: string): void {
    for (const key of keysIn(input)) {
      if (key === 'c' && this.#state.opened === null) this.#messages = []
      this.#state = afterKey(this.#state, key, this.#rows)
    }
    if (this.#state.isDone) this.#options.onDone()
    else this.#draw()
  }

  #draw(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const { columns, rows } = this.#screen.size
    const opened = this.#rows.find(({ number }) => number === this.#state.opened)
    const foot = this.#foot(opened === undefined ? LIST_KEYS : PAGE_KEYS).map((line) => cut(line, columns))
    const head = this.#head(opened === undefined).map(
      ({ text, tone }) => `${tone}${cut(text, columns)}${RESET}`,
    )
    const space = Math.max(2, rows - head.length - foot.length)
    const body = opened === undefined ? this.#list(columns, space) : this.#page(opened, columns, space)
    const filler = Array.from({ length: Math.max(0, space - body.length) }, () => '')
    this.#screen.draw([...head, ...body, ...filler, ...foot].slice(0, rows))
  }

  /** Returns the lines above the list or the page. The mocks are only above the list. */
  #head(isList: boolean): readonly { readonly text: string; readonly tone: string | undefined }[] {
    const { document } = this.#options
    const gateway = this.#serving === null ? 'not started' : this.#serving.gateway
    const mocks = this.#serving?.mocks ?? []
    const mistakes = this.#mistakes?.lines ?? []
    const more = mistakes.length - MAX_MISTAKES
    return [
      { text: `gw dev  ${document}  ${gateway}  ${countText(this.#rows.length, 'request')}`, tone: BOLD },
      ...(isList && mocks.length > 0 ? [{ text: mocksText(mocks), tone: '' }] : []),
      ...mistakes.slice(0, MAX_MISTAKES).map((line) => ({ text: visibleLines(line), tone: RED })),
      ...(more > 0 ? [{ text: `… and ${more} more; gw validate lists all`, tone: RED }] : []),
      ...(this.#mistakes === null
        ? []
        : [{ text: stateAfterMistakes(this.#mistakes.isServing), tone: YELLOW }]),
    ].map(({ text, tone }) => ({ text: visibleLines(text).replaceAll('\n', ' '), tone }))
  }

  #foot(keys: string): string[] {
    const { digits, showsDashboard } = this.#state
    const dashboard = this.#serving?.dashboard ?? 'the dashboard is not available'
    return [
      ...(showsDashboard ? [dashboard] : []),
      ...this.#messages,
      digits === '' ? keys : `open request ${digits}_`,
    ]
  }

  /** Returns the heading and the part of the list around the selected request. */
  #list(columns: number, space: number): string[] {
    const rows = listedRows(this.#rows, this.#state)
    const current = selectedRow(rows, this.#state)
    const at = current === null ? 0 : rows.indexOf(current)
    const first = Math.max(0, Math.min(at - Math.floor(space / 2), rows.length - (space - 1)))
    const shown = rows.slice(first, first + space - 1)
    const [heading = '', ...lines] = tableLines(HEADINGS, shown.map(cellsOf), columns)
    if (rows.length === 0) return [`waiting for requests to ${this.#serving?.gateway ?? 'the gateway'}`]
    return [
      `${BOLD}${cut(heading, columns)}${RESET}`,
      ...lines.map((line, i) => {
        const row = shown[i]!
        const text = cut(line, columns)
        if (row === current) return `${INVERSE}${text.padEnd(columns)}${RESET}`
        return `${row.status >= 500 ? RED : row.status >= 400 ? YELLOW : GREEN}${text}${RESET}`
      }),
    ]
  }

  #page(row: RequestRow, columns: number, space: number): string[] {
    const lines = this.#options.page(row, columns)
    const scroll = Math.min(this.#state.scroll, Math.max(0, lines.length - space))
    this.#state = { ...this.#state, scroll }
    return lines.slice(scroll, scroll + space)
  }
}

function mocksText(mocks: Serving['mocks']): string {
  const names = mocks.map(({ name, hasExamples }) => `${name} (${hasExamples ? 'OpenAPI examples' : 'echo'})`)
  return `mocked upstreams: ${names.join(', ')}`
}

function cellsOf(row: RequestRow): (string | number)[] {
  const { number, time, method, path, route, policies, status, ms, isMocked, problem } = row
  const answer = `${status}${isMocked ? ' mock' : ''}`
  return [number, time, method, path, route === '' ? '-' : route, policies, answer, ms.toFixed(1), problem]
}

function cut(line: string, columns: number): string {
  return [...line].slice(0, columns).join('')
}
