import { AdminClient, type ServerOptions } from '../admin-client.js'
import { type Format, print, printValue } from '../output/output.js'
import { bytesText, durationText, tableLines } from '../output/table.js'

export interface InspectOptions extends ServerOptions {
  readonly output: Format
}

interface Status {
  readonly version: string
  readonly uptimeMs: number
  readonly digest: string | null
  readonly origin: string | null
  readonly ready: boolean
  readonly reason: string | null
  readonly workers: readonly WorkerRow[]
  readonly listeners: readonly { readonly url: string; readonly engine: string }[]
  readonly warnings: readonly string[]
}

interface WorkerRow {
  readonly id: number
  readonly pid: number | null
  readonly state: string
  readonly digest: string | null
  readonly inFlight: number
  readonly connections: number
  readonly restarts: number
  readonly rssBytes: number
  readonly loopLagMs: number
  readonly uptimeMs: number
}

/** `gw status` */
export async function status(options: InspectOptions): Promise<number> {
  const found = await new AdminClient(options).json<Status>('/v1/status')
  if (options.output !== 'table') {
    printValue(found, options.output)
    return 0
  }
  const state = found.ready ? 'ready' : `not ready: ${found.reason ?? 'unknown'}`
  print(`Sluice ${found.version}, up ${durationText(found.uptimeMs)}, ${state}`)
  print(`config ${found.digest?.slice(0, 12) ?? '-'} from ${found.origin ?? '-'}`)
  for (const { url, engine } of found.listeners) print(`listener ${url} (${engine})`)
  for (const warning of found.warnings) print(`warning: ${warning}`)
  print('')
  const headings = [
    'WORKER',
    'PID',
    'STATE',
    'CONFIG',
    'IN FLIGHT',
    'CONNECTIONS',
    'RESTARTS',
    'RSS',
    'LAG',
    'UP',
  ]
  for (const line of tableLines(headings, found.workers.map(workerRow))) print(line)
  return 0
}

function workerRow(worker: WorkerRow): (string | number)[] {
  return [
    worker.id,
    worker.pid ?? '-',
    worker.state,
    worker.digest?.slice(0, 12) ?? '-',
    worker.inFlight,
    worker.connections,
    worker.restarts,
    bytesText(worker.rssBytes),
    `${worker.loopLagMs.toFixed(0)} ms`,
    durationText(worker.uptimeMs),
  ]
}

interface RouteRow {
  readonly id: string
  readonly match: {
    readonly hosts: readonly string[]
    readonly methods: readonly string[]
    readonly path: { readonly text: string }
  }
  readonly action: { readonly kind: string; readonly upstream?: string; readonly status?: number }
  readonly policies: readonly { readonly id: string }[]
}

/** `gw routes`: in the order in which they win. */
export async function routes(options: InspectOptions): Promise<number> {
  const found = await new AdminClient(options).json<{ readonly routes: readonly RouteRow[] }>('/v1/routes')
  if (options.output !== 'table') {
    printValue(found, options.output)
    return 0
  }
  const headings = ['ROUTE', 'HOSTS', 'METHODS', 'PATH', 'GOES TO', 'POLICIES']
  for (const line of tableLines(headings, found.routes.map(routeRow))) print(line)
  return 0
}

function routeRow({ id, match, action, policies }: RouteRow): string[] {
  const target =
    action.kind === 'proxy' ? (action.upstream ?? '-') : `${action.kind} ${action.status ?? ''}`.trim()
  const names = policies.map((policy) => policy.id).join(' ')
  return [
    id,
    match.hosts.join(' ') || '*',
    match.methods.join(' ') || '*',
    match.path.text || '*',
    target,
    names || '-',
  ]
}

/** `gw upstream list` */
export async function upstreams(options: InspectOptions): Promise<number> {
  const found = await new AdminClient(options).json<{ readonly upstreams: readonly UpstreamRow[] }>(
    '/v1/upstreams',
  )
  if (options.output !== 'table') {
    printValue(found, options.output)
    return 0
  }
  const rows = found.upstreams.flatMap(({ name, targets }) =>
    targets.map((target) => [
      name,
      target.url,
      target.role,
      target.weight,
      target.attempts ?? 0,
      target.failures ?? 0,
    ]),
  )
  for (const line of tableLines(['UPSTREAM', 'TARGET', 'ROLE', 'WEIGHT', 'ATTEMPTS', 'FAILURES'], rows))
    print(line)
  return 0
}

interface UpstreamRow {
  readonly name: string
  readonly targets: readonly {
    readonly url: string
    readonly role: string
    readonly weight: number
    readonly attempts?: number
    readonly failures?: number
  }[]
}
