import { spawnSync } from 'node:child_process'
import type { RunningServer } from '../contestant/running-server.js'
import { cpuMicros, firstThreadMicros, processTree } from '../measure/process-use.js'
import { type Estimate, median, trimmedMean } from '../statistics.js'
import { AlternatingLoad } from './alternating-load.js'
import { LOAD_CPU } from './test-bed.js'

/** What a policy adds to the time of a request, over rounds of short slices. */
export interface PolicyCost {
  readonly rounds: number
  readonly requests: number
  /** CPU time of a request without the policy, in microseconds. */
  readonly baseMicros: number
  /** What the policy adds, in percent of it. */
  readonly added: Estimate
  /** The same for a path without the policy: what the method itself gets wrong. */
  readonly control: Estimate
  /** Null when the figures count, else why not. */
  readonly invalid: string | null
}

const CONNECTIONS = 64
/** Short against the changes of a shared machine, long against one request of all connections. */
const SLICE_MS = 20
/** Requests of the path before are answered after a switch: they are let out before a slice begins. */
const SETTLE_MS = 5
const WARM_UP_MS = 3_000
/** Paths of one length. The last one is served like the first: it shows what the method itself gets wrong. */
export const POLICY_PATHS = {
  wire: ['/get', '/set', '/aaa'],
  undici: ['/undici/get', '/undici/set', '/undici/aaa'],
} as const
const ORDERS = [
  [0, 1, 2],
  [2, 1, 0],
  [1, 2, 0],
  [0, 2, 1],
  [2, 0, 1],
  [1, 0, 2],
] as const
/**
 * Rounds of short slices of three paths over the same connections to the same worker: without the policy, with it, and
 * without it again. A round is compared within itself and the order changes from round to round, so that a machine that
 * gets slower or faster in between favours none. The time is that of the worker's thread on its processor, so it does
 * not matter whether others take the core away in between.
 */
export async function comparePolicy(
  gateway: RunningServer,
  rounds: number,
  paths: readonly [string, string, string],
): Promise<PolicyCost> {
  spawnSync('taskset', ['-cp', LOAD_CPU, String(process.pid)])
  const { port, host } = new URL(gateway.url)
  const load = new AlternatingLoad(host)
  await load.open(Number(port), CONNECTIONS, paths[0])
  const found: Found = { micros: paths.map(() => []), requests: 0, wrong: 0 }
  try {
    for (const path of paths) {
      load.ask(path)
      await load.slice(WARM_UP_MS)
    }
    const worker = busiest(gateway.pid)
    for (let i = 0; i < rounds; i++) {
      for (const place of ORDERS[i % ORDERS.length]!)
        await measure(load, { path: paths[place]!, place, worker }, found)
    }
    return summary(found)
  } finally {
    load.close()
  }
}

interface Found {
  /** Microseconds a request, by path and round. */
  readonly micros: readonly number[][]
  requests: number
  wrong: number
}

/** The worker that serves: it used the most of all processes. */
function busiest(root: number): number {
  return processTree(root).toSorted((a, b) => cpuMicros(b) - cpuMicros(a))[0]!
}

interface SliceOrder {
  readonly path: string
  readonly place: number
  readonly worker: number
}

async function measure(
  load: AlternatingLoad,
  { path, place, worker }: SliceOrder,
  found: Found,
): Promise<void> {
  load.ask(path)
  await load.slice(SETTLE_MS)
  const before = firstThreadMicros(worker)
  const slice = await load.slice(SLICE_MS)
  found.micros[place]!.push((firstThreadMicros(worker) - before) / slice.requests)
  found.requests += slice.requests
  found.wrong += slice.wrong
}

function summary(found: Found): PolicyCost {
  const [base, withPolicy, again] = found.micros as [number[], number[], number[]]
  // A slice in which the machine stood still has no request in it.
  const added = (other: readonly number[]) =>
    base.map((micros, i) => 100 * (other[i]! / micros - 1)).filter(Number.isFinite)
  return {
    rounds: base.length,
    requests: found.requests,
    baseMicros: median(base),
    added: trimmedMean(added(withPolicy)),
    control: trimmedMean(added(again)),
    invalid: found.wrong > 0 ? `${found.wrong} answers were not 200` : null,
  }
}
