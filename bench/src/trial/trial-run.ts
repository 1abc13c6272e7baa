import { setTimeout as sleep } from 'node:timers/promises'
import { logIdentity } from '../contestant/gateway.js'
import { STEERED_BODY } from '../contestant/steered-body.js'
import type { Trial, TrialOrigin, TrialPhase, TrialPlan } from '../model/trial.js'
import { Aside } from './aside.js'
import type { Deed } from './deed.js'
import { gatewayWorkers } from './gateway-workers.js'
import { failuresOf, type Seen } from './judgement.js'
import type { Span } from './load-spans.js'
import { countLog } from './log-count.js'
import type { OpenStage } from './stage.js'
import { SteadyLoad } from './steady-load.js'
import type { TrialTimes } from './times.js'
import { invalidityOf } from './validity.js'

/** What a trial is told. */
export interface TrialOrder {
  readonly plan: TrialPlan
  readonly deed: Deed
  readonly stage: OpenStage
  readonly times: TrialTimes
  readonly saturationPerSecond: number
  readonly perSecond: number
}

/** Requests that wait for a connection: as many as are due in the longest time that clients wait. */
const WAITING_SECONDS = 60
const WINDOW_MS = 500
/** Clients notice a P99 of more than twice the usual one, and of this much more. */
const NOTICED_TIMES = 2
const NOTICED_MS = 5
/** A delivery takes as long as the node needs for what waits: many times the length of the trial, and these seconds. */
const DELIVERY_SECONDS = 300
const DELIVERY_TIMES = 20
/** The numbers come with heartbeats, so the first look waits for one that knows of the last request. */
const HEARTBEAT_MS = 700

/** Of origins that do not say what they saw, which is a failure in any case. */
const UNSEEN: TrialOrigin = { requests: 0, failed: 0, slow: 0, stray: 0 }

/** One trial, from the first request to the verdict. @throws Error when it cannot be carried out */
export async function runTrial(order: TrialOrder): Promise<Trial> {
  const { plan, deed, stage, perSecond } = order
  const { connections } = plan
  const waiting = Math.ceil(perSecond * WAITING_SECONDS)
  const wish = { connections, waiting, sendsAgain: true, body: STEERED_BODY }
  const load = new SteadyLoad(Number(new URL(stage.gateway.url).port), perSecond, wish)
  const aside = deed.leadSeconds === undefined ? null : new Aside(load)
  const startedAt = new Date().toISOString()
  const before = await gatewayWorkers(stage.gateway.admin)
  const startMono = performance.now()
  await load.start()
  const faults: string[] = []
  const acts = await underLoad(order, { load, aside, startMono, faults }).finally(() => load.stop())
  const records = await attempted(() => recordsOf(order, load), faults, null)
  const asideLosses = await attempted(async () => aside?.losses(stage), faults, undefined)
  const after = await attempted(() => gatewayWorkers(stage.gateway.admin), faults, [])
  const { leftAt, isCutShort, ...parts } = acts
  const seen: Seen = {
    ...{ id: plan.id, title: plan.title, action: plan.action, workers: plan.workers },
    ...{ startedAt, connections, targetPerSecond: perSecond },
    saturationPerSecond: order.saturationPerSecond,
    ...{ requests: load.total, ...load.account, ...parts },
    ...(records ?? { log: null, deliveredSeconds: null }),
    newWorkers: after.filter((pid) => !before.includes(pid)).length,
    ...(asideLosses === undefined ? {} : { aside: asideLosses }),
    origin: await attempted(() => originOf(order, leftAt), faults, UNSEEN),
    ...(deed.soak === undefined ? {} : { soak: deed.soak() }),
  }
  return {
    ...seen,
    failures: [...faults, ...failuresOf(seen, deed.expects(seen))],
    invalid: invalidityOf({ ...seen, times: order.times, isCutShort }),
  }
}

interface Acts extends Pick<Trial, 'actedFromSeconds' | 'actedToSeconds' | 'phases' | 'recoveredSeconds'> {
  /** Requests that the origin had when all was done. */
  readonly leftAt: number
  /** Whether the load ended before its time. */
  readonly isCutShort: boolean
}

/** Does a part of a trial; what goes wrong in it is a failure of the trial, which goes on without its answer. */
async function attempted<T>(part: () => Promise<T>, faults: string[], otherwise: T): Promise<T> {
  try {
    return await part()
  } catch (error) {
    faults.push((error as Error).message)
    return otherwise
  }
}

interface Course {
  readonly load: SteadyLoad
  /** Null: what may be lost may be so at any time. */
  readonly aside: Aside | null
  readonly startMono: number
  readonly faults: string[]
}

async function underLoad({ deed, stage, times }: TrialOrder, course: Course): Promise<Acts> {
  const { load, aside, startMono, faults } = course
  await passing(times.warmUpSeconds, stage.signal)
  load.span()
  const phases: TrialPhase[] = []
  let phaseMono = performance.now()
  let sentBefore = load.total
  const end = (name: TrialPhase['name']): TrialPhase => {
    const sent = load.total - sentBefore
    const phase = { ...phaseOf(name, load.span(), secondsSince(phaseMono)), sent }
    phases.push(phase)
    phaseMono = performance.now()
    sentBefore = load.total
    return phase
  }
  await passing(times.beforeSeconds, stage.signal)
  const usual = end('before')
  aside?.begin()
  await passing(deed.leadSeconds ?? 0, stage.signal)
  const actedFromSeconds = secondsSince(startMono)
  await attempted(() => deed.begin(stage, times.duringSeconds), faults, undefined)
  aside?.end()
  await passing(times.duringSeconds - secondsSince(phaseMono), stage.signal)
  await attempted(() => deed.end(stage), faults, undefined)
  const actedToSeconds = secondsSince(startMono)
  end('during')
  const leftAt = await attempted(async () => (await stage.origin.counts()).requests, faults, 0)
  const recoveredSeconds = await recovery(load, usual, times.afterSeconds, stage.signal)
  end('after')
  const isCutShort = stage.signal.aborted
  return { actedFromSeconds, actedToSeconds, phases, recoveredSeconds, leftAt, isCutShort }
}

/** Waits, and answers from when on clients noticed nothing to the end; null: they did to the end. */
async function recovery(
  load: SteadyLoad,
  usual: TrialPhase,
  seconds: number,
  signal: AbortSignal,
): Promise<number | null> {
  const startMono = performance.now()
  const usualMs = (usual.p99Micros ?? 0) / 1000
  let recovered: number | null = null
  while (secondsSince(startMono) < seconds && !signal.aborted) {
    await sleep(WINDOW_MS)
    const { requests, failed, p99Ms } = load.window()
    const isWell = requests > 0 && failed === 0 && p99Ms <= usualMs * NOTICED_TIMES + NOTICED_MS
    // The beginning of the window: in all of it they noticed nothing.
    if (isWell) recovered ??= Math.max(0, secondsSince(startMono) - WINDOW_MS / 1000)
    else recovered = null
  }
  return recovered
}

function phaseOf(name: TrialPhase['name'], span: Span, seconds: number): TrialPhase {
  const { requests, failed, p50Ms, p99Ms } = span
  const micros = (ms: number): number | null => (requests === 0 ? null : Math.round(ms * 1000))
  return { name, seconds, requests, failed, p50Micros: micros(p50Ms), p99Micros: micros(p99Ms) }
}

/** What became of the records, once they have had the time to be delivered; null: there are none. */
async function recordsOf(
  { stage, times }: TrialOrder,
  load: SteadyLoad,
): Promise<Pick<Trial, 'log' | 'deliveredSeconds'> | null> {
  const { gateway, node, stream, spoolDir } = stage
  if (node === null) return null
  const deliveredSeconds = await delivery(stage, times.duringSeconds)
  const { documents, repeated, identity } = await countLog({ node, stream, spoolDir, gateway }, load.total)
  const { dead, dropped } = identity
  const found = documents + dead + dropped
  // A request that was cut off may have a record, or not.
  const answered = load.total - load.account.errors.reset - load.account.errors.timeout
  const missing = found < answered ? answered - found : Math.min(0, load.total - found)
  return { log: { documents, dead, dropped, repeated, missing }, deliveredSeconds }
}

/** Answers after how many seconds no record waits any more; null: they do to the end, and those are missing. */
async function delivery({ gateway }: OpenStage, seconds: number): Promise<number | null> {
  const startMono = performance.now()
  const mostSeconds = DELIVERY_SECONDS + seconds * DELIVERY_TIMES
  while (secondsSince(startMono) < mostSeconds) {
    await sleep(HEARTBEAT_MS)
    const { onDisk, inMemory } = await logIdentity(gateway.admin)
    if (onDisk + inMemory === 0) return secondsSince(startMono)
  }
  return null
}

async function originOf({ deed, stage }: TrialOrder, leftAt: number): Promise<TrialOrigin> {
  const { requests, failed, slow } = await stage.origin.counts()
  const other = (await stage.otherOrigin?.counts())?.requests ?? 0
  const stray = deed.wish?.isLeft === true ? requests - leftAt : 0
  return { requests: requests + other, failed, slow, stray }
}

/** Also over when the load is to end before its time. */
async function passing(seconds: number, signal: AbortSignal): Promise<void> {
  if (seconds > 0) await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined)
}

function secondsSince(mono: number): number {
  return (performance.now() - mono) / 1000
}
