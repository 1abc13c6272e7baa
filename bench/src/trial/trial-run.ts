import { setTimeout as sleep } from 'node:timers/promises'
import type { Trial, TrialPhase, TrialPlan } from '../model/trial.js'
import { FAULT_ORIGIN_BODY } from '../servers/fault-origin.js'
import { delivery, gatewayWorkers } from '../servers/gateway.js'
import { ConstantRateLoad, type Span } from './constant-rate-load.js'
import { failuresOf, invalidityOf } from './expectation.js'
import type { Fault, Observed } from './fault.js'
import { countLog } from './log-count.js'
import type { TrialSetup } from './setup.js'

interface TrialOptions {
  readonly plan: TrialPlan
  readonly fault: Fault
  readonly setup: TrialSetup
  readonly warmUpSeconds: number
  /** Duration of all three phases, in seconds. */
  readonly seconds: number
  readonly saturationPerSecond: number
  readonly perSecond: number
  /** Aborted to end the load early. */
  readonly signal: AbortSignal
}

/** Maximum time before and after the fault in a long load, in seconds. */
const MOST_ASIDE_SECONDS = 60
/** Requests that may wait for a connection, in seconds of load. */
const WAITING_SECONDS = 60
/** Minimum time for deliveries, in seconds. Many times the length of the trial is added. */
const DELIVERY_SECONDS = 300
const DELIVERY_TIMES = 20
const UNSEEN = { requests: 0, failed: 0, slow: 0, stray: 0 }

/** Runs one trial, from the first request to the verdict. @throws Error if it cannot run */
export async function runTrial(options: TrialOptions): Promise<Trial> {
  const { plan, fault, setup, perSecond, saturationPerSecond, signal } = options
  const { id, title, action, workers, connections } = plan
  const load = new ConstantRateLoad(Number(new URL(setup.gateway.url).port), perSecond, {
    connections,
    mostWaiting: Math.ceil(perSecond * WAITING_SECONDS),
    body: FAULT_ORIGIN_BODY,
  })
  const problems: string[] = []
  // A failed part is a failure of the trial, which continues.
  const attempt = <T>(part: Promise<T>, otherwise: T): Promise<T> =>
    part.catch((error: Error) => {
      problems.push(error.message)
      return otherwise
    })
  const before = (await gatewayWorkers(setup.gateway.admin)).map(({ pid }) => pid)
  await load.start()
  const course = await underLoad(options, load, attempt).finally(() => load.stop())
  const { leftAt, ...parts } = course
  const records = await attempt(recordsOf(options, load), { log: null, deliveredSeconds: null })
  const after = await attempt(gatewayWorkers(setup.gateway.admin), [])
  const observed: Observed = {
    ...{ id, title, action, workers, connections, targetPerSecond: perSecond, saturationPerSecond },
    ...{ ...load.account, ...parts, ...records },
    newWorkers: after.filter(({ pid }) => !before.includes(pid)).length,
    origin: await attempt(originOf(options, leftAt), UNSEEN),
    soak: fault.soak?.() ?? null,
  }
  return {
    ...observed,
    failures: [...problems, ...failuresOf(observed, fault.expects?.(observed))],
    invalid: invalidityOf(observed.phases, perSecond, signal.aborted),
  }
}

interface Course extends Pick<Trial, 'phases'> {
  /** Requests at the origin when everything was done. */
  readonly leftAt: number
}

async function underLoad(
  { fault, setup, seconds, warmUpSeconds, signal }: TrialOptions,
  load: ConstantRateLoad,
  attempt: <T>(part: Promise<T>, otherwise: T) => Promise<T>,
): Promise<Course> {
  const aside = Math.min(MOST_ASIDE_SECONDS, seconds / 3)
  const during = seconds - 2 * aside
  const phases: TrialPhase[] = []
  await passing(warmUpSeconds, signal)
  load.span()
  let [phaseMono, sentBefore] = [performance.now(), load.account.requests]
  const end = (name: TrialPhase['name']): void => {
    const sent = load.account.requests - sentBefore
    phases.push({ name, seconds: secondsSince(phaseMono), sent, ...figuresOf(load.span()) })
    ;[phaseMono, sentBefore] = [performance.now(), sentBefore + sent]
  }
  await passing(aside, signal)
  end('before')
  await attempt(fault.begin(setup, during), undefined)
  await passing(during - secondsSince(phaseMono), signal)
  await attempt(fault.end?.(setup) ?? Promise.resolve(), undefined)
  end('during')
  const leftAt = await attempt(
    setup.origin.counts().then(({ requests }) => requests),
    0,
  )
  await passing(aside, signal)
  end('after')
  return { phases, leftAt }
}

function figuresOf({
  answered,
  failed,
  p50Ms,
  p99Ms,
}: Span): Pick<TrialPhase, 'answered' | 'failed' | 'p50Micros' | 'p99Micros'> {
  const micros = (ms: number): number | null => (answered === 0 ? null : Math.round(ms * 1000))
  return { answered, failed, p50Micros: micros(p50Ms), p99Micros: micros(p99Ms) }
}

/** Returns the location of the records after waiting for their delivery. */
async function recordsOf(
  { setup, seconds }: TrialOptions,
  load: ConstantRateLoad,
): Promise<Pick<Trial, 'log' | 'deliveredSeconds'>> {
  if (setup.logNode === null) return { log: null, deliveredSeconds: null }
  const mostMs = (DELIVERY_SECONDS + seconds * DELIVERY_TIMES) * 1000
  const deliveredSeconds = await delivery(setup.gateway.admin, mostMs)
  const count = await countLog(setup.logNode.node, setup)
  const { requests, lost } = load.account
  const found = count.documents + count.dead + count.dropped
  // A request that was cut off may or may not have a record.
  const answered = requests - lost.reset - lost.timeout
  const missing = found < answered ? answered - found : Math.min(0, requests - found)
  return { log: { ...count, missing }, deliveredSeconds }
}

async function originOf({ fault, setup }: TrialOptions, leftAt: number): Promise<Trial['origin']> {
  const { requests, failed, slow } = await setup.origin.counts()
  const other = (await setup.otherOrigin?.counts())?.requests ?? 0
  const stray = fault.needs?.isLeft === true ? requests - leftAt : 0
  return { requests: requests + other, failed, slow, stray }
}

/** Waits for a duration, or until the load is aborted. */
async function passing(seconds: number, signal: AbortSignal): Promise<void> {
  if (seconds > 0) await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined)
}

function secondsSince(mono: number): number {
  return (performance.now() - mono) / 1000
}
