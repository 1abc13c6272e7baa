import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { formatSize } from '@sluice/core'
import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT } from '../output/failure.js'
import { print, printResult, printTable } from '../output/output.js'
import { ageText, countText } from '../output/text.js'
import { type Conditions, conditionsOf, daysText } from './status-conditions.js'

/** Result of one check. */
interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** What to do; empty if the result is ok. */
  readonly advice: string
}

/** Metrics by name, summed over other labels. */
type Numbers = ReadonlyMap<string, number>

const MAX_LAG_MS = 100
const MAX_LOG_LAG_MS = 60_000
/** Share of the heap or of the file descriptors from which a check warns. */
const HIGH_SHARE = 0.8
/** Days of validity below which a certificate is a problem, and below which it is worth a warning. */
const URGENT_DAYS = 7
const EARLY_DAYS = 30
/** Number of file descriptors that a busy gateway needs. */
const MIN_DESCRIPTORS = 4096

/** Checks a running gateway, prints advice, and returns 1 if there are problems. */
export async function doctor(options: OutputOptions & ServerOptions): Promise<number> {
  const client = new AdminClient(options)
  const { part: status } = await client.get('/v1/status')
  const { part: log } = await client.get('/v1/log')
  const numbers = await metricsOf(client)
  const workers = status.parts('workers')
  const findings = [
    readiness(status),
    ...workerFindings(workers),
    heap(workers, numbers),
    eventLoop(workers, numbers),
    logTarget(log),
    stores(workers, numbers),
    ...conditionFindings(await conditionsOf(client)),
    descriptors(workers, client.origin),
  ]
  const problems = findings.filter(({ result }) => result === 'problem').length
  await printResult({ problems, findings }, options.output, () => {
    printTable(
      ['CHECK', 'RESULT', 'DETAIL'],
      findings.map(({ check, result, detail }) => [check, result, detail]),
      options.output,
    )
    const advised = findings.filter(({ advice }) => advice !== '')
    print(...(advised.length === 0 ? [] : ['']), ...advised.map(({ check, advice }) => `${check}: ${advice}`))
  })
  return problems === 0 ? EXIT.ok : EXIT.failed
}

function ok(check: string, detail: string): Finding {
  return { check, result: 'ok', detail, advice: '' }
}

function readiness(status: AnswerPart): Finding {
  const reason = status.textOrNull('reason')
  if (reason === null) return ok('readiness', `ready, up ${ageText(status.number('uptimeMs'))}`)
  const advice = 'load balancers send no requests; correct the reason, gw status shows more'
  return { check: 'readiness', result: 'problem', detail: reason, advice }
}

function workerFindings(workers: readonly AnswerPart[]): Finding[] {
  const down = workers.filter((worker) => !['ready', 'draining', 'idle'].includes(worker.text('state')))
  const restarts = workers.reduce((sum, worker) => sum + worker.number('restarts'), 0)
  if (down.length > 0) {
    const detail = `${down.length} of ${countText(workers.length, 'worker')} not ready`
    return [
      { check: 'workers', result: 'problem', detail, advice: 'search the operation log for worker.exited' },
    ]
  }
  if (restarts === 0) return [ok('workers', `${workers.length} ready, no restarts`)]
  const detail = `${workers.length} ready, ${countText(restarts, 'restart')}`
  const advice = 'a worker has died: search the operation log for worker.exited, and check plugins and memory'
  return [{ check: 'workers', result: 'warning', detail, advice }]
}

function heap(workers: readonly AnswerPart[], numbers: Numbers): Finding {
  const rss = workers.reduce((sum, worker) => sum + worker.number('rssBytes'), 0)
  const used = numbers.get('gw_worker_heap_used_bytes')
  if (used === undefined)
    return ok('heap', `${formatSize(rss)} resident; metrics are off, so the heap is unknown`)
  const limit = numbers.get('gw_worker_heap_limit_bytes') ?? Number.POSITIVE_INFINITY
  const detail = `${formatSize(used)} of ${formatSize(limit)} used, ${formatSize(rss)} resident`
  if (used < HIGH_SHARE * limit) return ok('heap', detail)
  const advice = 'near the limit: lower body limits and caches, or give the gateway more memory'
  return { check: 'heap', result: 'warning', detail, advice }
}

function eventLoop(workers: readonly AnswerPart[], numbers: Numbers): Finding {
  const lagMs = Math.max(0, ...workers.map((worker) => worker.number('loopLagMs')))
  const detail = `delayed by at most ${lagMs.toFixed(0)} ms`
  const overloaded = numbers.get('gw_worker_overloaded') ?? 0
  if (overloaded > 0) {
    const advice = 'add workers or CPUs; gw top shows the busy routes'
    return { check: 'event loop', result: 'problem', detail: `${detail}; requests are refused`, advice }
  }
  if (lagMs <= MAX_LAG_MS) return ok('event loop', detail)
  const advice =
    'CPU is short or a policy blocks: check the load of the machine, and expensive policies with gw explain'
  return { check: 'event loop', result: 'warning', detail, advice }
}

function logTarget(log: AnswerPart): Finding {
  const lagMs = log.numberOrNull('lagMs') ?? 0
  const waiting = log.number('onDisk') + log.number('inMemory')
  const [dead, dropped] = [log.number('dead'), log.number('dropped')]
  const detail = `${waiting} waiting, ${dead} refused, ${dropped} lost`
  if (lagMs > MAX_LOG_LAG_MS) {
    const advice =
      'the log target does not keep up or is down: search the operation log for log, and check the target'
    return { check: 'log target', result: 'problem', detail: `${detail}; oldest ${ageText(lagMs)}`, advice }
  }
  if (dead + dropped === 0) return ok('log target', detail)
  const lost = 'lost records: gw_log_dropped_total has the reasons'
  const advice =
    dead === 0
      ? lost
      : `gw logs replay-dead -c FILE retries refused records${dropped === 0 ? '' : `; ${lost}`}`
  return { check: 'log target', result: 'warning', detail, advice }
}

function stores(workers: readonly AnswerPart[], numbers: Numbers): Finding {
  const problems = workers.map((worker) => worker.textOrNull('stateProblem')).filter((text) => text !== null)
  if (problems.length > 0) {
    const detail = `not used by ${countText(problems.length, 'worker')}: the server ${problems[0]}`
    const advice = 'limits follow onStoreDown until it returns: check the state server and its address'
    return { check: 'state server', result: 'problem', detail, advice }
  }
  if ((numbers.get('gw_state_slow') ?? 0) === 0) return ok('state server', 'in use, or none configured')
  const advice = 'limits follow onStoreDown while it is slow: check its load and the network'
  return { check: 'state server', result: 'warning', detail: 'slower than state.slowAfter', advice }
}

function conditionFindings({ certificates, canaries, targetsOut }: Conditions): Finding[] {
  const aborted = canaries.filter(({ state }) => state.includes('aborted'))
  return [
    ...(targetsOut.length === 0 ? [ok('upstreams', 'all targets receive requests')] : []),
    ...targetsOut.map(({ upstream, target, reason }): Finding => {
      const isDrained = reason.startsWith('drained')
      const advice = isDrained
        ? `gw upstream undrain ${upstream} ${target} returns it to service`
        : 'check the target; gw upstream health shows its checks'
      const detail = `${target} of ${upstream}: ${reason}`
      return { check: 'upstreams', result: isDrained ? 'warning' : 'problem', detail, advice }
    }),
    ...aborted.map(({ upstream, state }): Finding => {
      const advice = 'the canary fails more often than the primary targets: roll it back or correct it'
      return { check: 'canary', result: 'warning', detail: `${upstream}: ${state}`, advice }
    }),
    ...certificates.map(({ file, daysLeft }): Finding => {
      const detail = `${file}: ${daysText(daysLeft)}`
      if (daysLeft !== null && daysLeft > EARLY_DAYS) return ok('certificates', detail)
      const result = daysLeft === null || daysLeft < URGENT_DAYS ? 'problem' : 'warning'
      return {
        check: 'certificates',
        result,
        detail,
        advice: 'replace the file; the gateway reads it by itself',
      }
    }),
  ]
}

/** Checks the limit of open files of the workers, which is only visible on their own machine. */
function descriptors(workers: readonly AnswerPart[], origin: string): Finding {
  const check = 'file descriptors'
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(origin)?.hostname ?? '')
  const pids = workers.map((worker) => worker.numberOrNull('pid')).filter((pid) => pid !== null)
  const usages = isLocal ? pids.map(descriptorUsage).filter((usage) => usage !== null) : []
  const [highest] = usages.sort((a, b) => b.open / b.limit - a.open / a.limit)
  if (highest === undefined)
    return ok(check, 'not visible from here; run gw doctor on the machine of the gateway')
  const { open, limit } = highest
  const detail = `at most ${open} of ${limit} open`
  const advice = 'raise the limit: LimitNOFILE in the systemd unit, or ulimit -n before gw start'
  if (open > HIGH_SHARE * limit) return { check, result: 'problem', detail, advice }
  return limit < MIN_DESCRIPTORS ? { check, result: 'warning', detail, advice } : ok(check, detail)
}

/** Returns the open files of a process and their limit, or null if they cannot be read. */
function descriptorUsage(pid: number): { readonly open: number; readonly limit: number } | null {
  const dir = `/proc/${pid}`
  if (!existsSync(dir)) return null
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync(`${dir}/limits`, 'utf8'))?.[1]
    return limit === undefined ? null : { open: readdirSync(`${dir}/fd`).length, limit: Number(limit) }
  } catch {
    return null
  }
}

/** Gets the metrics; empty if they are off. */
async function metricsOf(client: AdminClient): Promise<Numbers> {
  const { status, text } = await client.send({ method: 'GET', path: '/metrics' })
  const numbers = new Map<string, number>()
  if (status !== 200) return numbers
  for (const [, name = '', value = ''] of text.matchAll(/^([a-z_]+)(?:\{.*\})? (\S+)$/gm))
    numbers.set(name, (numbers.get(name) ?? 0) + Number(value))
  return numbers
}
