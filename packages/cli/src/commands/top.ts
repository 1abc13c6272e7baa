import { setTimeout as sleep } from 'node:timers/promises'
import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { untilSignal } from '../input/until-signal.js'
import { EXIT, Failure, usageError } from '../output/failure.js'
import { FullScreen } from '../output/full-screen.js'
import { isTable, print, printTable, printValue } from '../output/output.js'
import type { Cell } from '../output/table.js'
import {
  headLines,
  ROUTE_HEADINGS,
  type RouteDetail,
  routeCells,
  screenLines,
  type TopData,
} from '../top/screen.js'
import { sorted, TrafficRates, type TrafficRow } from '../top/traffic.js'
import { afterKey, keysIn, START, type ViewState, visibleRows } from '../top/view-state.js'
import { stateText } from './upstream.js'

interface TopOptions extends OutputOptions, ServerOptions {
  readonly once?: boolean
  /** Seconds between refreshes. */
  readonly delay: number
}

/** Shows the traffic by route: on a terminal until `q`, otherwise once. */
export async function top(options: TopOptions): Promise<void> {
  const { once = false, output } = options
  const client = new AdminClient(options)
  if (!once && !isTable(output)) throw usageError(`-o ${output} needs --once`)
  if (once || !FullScreen.isAvailable()) return printOnce(client, options)
  await new Top(client, options.delay * 1000).run()
}

/** Prints the traffic between now and the end of the delay. */
async function printOnce(client: AdminClient, { delay, output }: TopOptions): Promise<void> {
  const figures = new Figures(client)
  await figures.refresh()
  await sleep(delay * 1000)
  const { status, rates } = await figures.refresh()
  const routes = sorted(rates.routes, START.sort)
  if (!isTable(output)) return printValue({ seconds: delay, total: rates.total, routes }, output)
  const data = { origin: client.origin, status, total: rates.total, rows: routes, detail: null, problem: '' }
  print(...headLines(data), '')
  printTable(ROUTE_HEADINGS, routes.map(routeCells), output)
}

/** Figures of a gateway, as rates since the previous refresh. */
class Figures {
  readonly #client: AdminClient
  #last: AnswerPart | null = null

  constructor(client: AdminClient) {
    this.#client = client
  }

  async refresh(): Promise<{ readonly status: AnswerPart; readonly rates: TrafficRates }> {
    const { part: status } = await this.#client.get('/v1/status')
    const { part: metrics } = await this.#client.get('/v1/metrics')
    const before = this.#last
    this.#last = metrics
    const since = before === null ? Date.parse(status.text('startedAt')) : Date.parse(before.text('at'))
    const seconds = (Date.parse(metrics.text('at')) - since) / 1000
    return { status, rates: new TrafficRates(before, metrics, seconds) }
  }
}

/** The full-screen view. */
class Top {
  readonly #client: AdminClient
  readonly #delayMs: number
  readonly #figures: Figures
  readonly #stop = untilSignal()
  #state: ViewState = START
  #status: AnswerPart | null = null
  #rates: TrafficRates | null = null
  #detail: RouteDetail | null = null
  #problem = ''
  #wake = new AbortController()

  constructor(client: AdminClient, delayMs: number) {
    this.#client = client
    this.#delayMs = delayMs
    this.#figures = new Figures(client)
  }

  /** Runs until `q` or a signal. @throws Failure if the gateway cannot be reached at the start */
  async run(): Promise<void> {
    await this.#refresh()
    const screen = new FullScreen((input) => this.#onKeys(input, screen))
    try {
      while (!this.#isDone()) {
        this.#draw(screen)
        await this.#pause()
        if (!this.#isDone()) await this.#refresh().catch((error: unknown) => this.#onFailure(error))
      }
    } finally {
      screen.close()
    }
  }

  #isDone(): boolean {
    return this.#state.isDone || this.#stop.signal.aborted
  }

  async #refresh(): Promise<void> {
    const { status, rates } = await this.#figures.refresh()
    this.#status = status
    this.#rates = rates
    await this.#refreshDetail(rates)
    this.#problem = ''
  }

  /** Updates the route in detail. It may have been left meanwhile. */
  async #refreshDetail({ routes }: TrafficRates): Promise<void> {
    const row = routes.find(({ route }) => route === this.#state.route)
    const detail = row === undefined ? null : await routeDetail(this.#client, row)
    this.#detail = this.#state.route === row?.route ? detail : null
  }

  #onFailure(error: unknown): void {
    if (!(error instanceof Failure) || error.exit !== EXIT.unreachable) throw error
    this.#problem = 'no connection, the figures are old'
  }

  #onKeys(input: string, screen: FullScreen): void {
    const { route } = this.#state
    for (const key of keysIn(input)) this.#state = afterKey(this.#state, key, this.#rows())
    if (this.#state.route === null) this.#detail = null
    if (this.#state.isDone || (this.#state.route !== null && this.#state.route !== route)) this.#wake.abort()
    else this.#draw(screen)
  }

  #rows(): readonly TrafficRow[] {
    return visibleRows(this.#rates?.routes ?? [], this.#state)
  }

  #draw(screen: FullScreen): void {
    if (this.#status === null || this.#rates === null) return
    const data: TopData = {
      origin: this.#client.origin,
      status: this.#status,
      total: this.#rates.total,
      rows: this.#rows(),
      detail: this.#detail,
      problem: this.#problem,
    }
    screen.draw(screenLines(data, this.#state, screen.size))
  }

  /** Waits for the next refresh, a key that needs one, or a signal. */
  async #pause(): Promise<void> {
    this.#wake = new AbortController()
    const signal = AbortSignal.any([this.#wake.signal, this.#stop.signal])
    await sleep(this.#delayMs, undefined, { signal }).catch(() => {})
  }
}

/** Gets the policies and the targets of a route. */
async function routeDetail(client: AdminClient, row: TrafficRow): Promise<RouteDetail | null> {
  const { part } = await client.get('/v1/routes')
  const route = part.parts('routes').find((one) => one.text('id') === row.route)
  if (route === undefined)
    return { row, goesTo: 'unknown: the document has no such route', policies: [], targets: [] }
  const { part: metrics } = await client.get('/v1/metrics')
  const action = route.part('action')
  const name = action.textOrNull('upstream')
  return {
    row,
    goesTo: name === null ? action.text('kind') : `upstream ${name}`,
    policies: policyRows(route, metrics),
    targets: name === null ? [] : await targetRows(client, name),
  }
}

/** Returns the policies with the number of measured runs and their average, where the gateway measures them. */
function policyRows(route: AnswerPart, metrics: AnswerPart): Cell[][] {
  const measured = metrics.parts('routes').find((one) => one.text('id') === route.text('id'))
  const durations = measured?.partOrNull('policies')
  return route.parts('policies').map((policy) => {
    const figures = durations?.partOrNull(policy.text('id'))
    const runs = figures?.number('count') ?? 0
    const average = runs === 0 ? '-' : ((figures!.number('seconds') / runs) * 1e6).toFixed(1)
    return [
      policy.text('id'),
      policy.text('use'),
      runs === 0 ? '-' : runs,
      average,
      policy.textOrNull('when') ?? '',
    ]
  })
}

async function targetRows(client: AdminClient, name: string): Promise<Cell[][]> {
  const { part } = await client.get('/v1/upstreams')
  const upstream = part.parts('upstreams').find((one) => one.text('name') === name)
  return (upstream?.parts('targets') ?? []).map((target) => {
    const numbers = target.part('numbers')
    const count = (metric: string): number => numbers.numberOrNull(`gw_upstream_${metric}`) ?? 0
    const state = target.part('state')
    return [
      target.text('url'),
      state.flag('drained') ? 'drained' : stateText(state),
      count('active'),
      count('attempts_total'),
      count('failures_total'),
    ]
  })
}
