import { spawnSync } from 'node:child_process'
import { AlternatingLoad } from './alternating-load.js'
import { type Contestant, LOAD_CPU } from './contestant.js'
import { exactCpuMicros, processTree } from './process-cpu.js'
import { mean, standardError } from './statistics.js'

/** What a policy adds to the CPU time of a request, over pairs of slices with and without it. */
export interface PolicyCost {
  readonly pairs: number
  readonly requests: number
  /** CPU time of a request without the policy, in microseconds. */
  readonly baseMicros: number
  readonly addedPercent: number
  /** Standard error of the percentage: two of them on each side hold the true value in 95 of 100 runs. */
  readonly errorPercent: number
  /** Null when the figures count, else why not. */
  readonly invalid: string | null
}

const CONNECTIONS = 64
const SLICE_MS = 250
/** Requests of the path before are answered after a switch: they are let out before a slice begins. */
const SETTLE_MS = 20
const WARM_UP_MS = 3_000
const WITHOUT = '/get'
/** As long as the other path: the policy is all that differs. */
const WITH = '/set'

interface Measured {
  readonly micros: number
  readonly requests: number
}

/**
 * Short slices with and without the policy over the same connections to the same worker. Each pair is compared within
 * itself and every second one runs the other way round, so that a machine that gets slower or faster in between favours
 * neither.
 */
export async function comparePolicy(gateway: Contestant, pairs: number): Promise<PolicyCost> {
  spawnSync('taskset', ['-cp', LOAD_CPU, String(process.pid)])
  const { port, host } = new URL(gateway.url)
  const load = new AlternatingLoad(host)
  await load.open(Number(port), CONNECTIONS, WITH)
  const pids = processTree(gateway.pid)
  let wrong = 0
  const measure = async (path: string): Promise<Measured> => {
    load.ask(path)
    await load.slice(SETTLE_MS)
    const before = exactCpuMicros(pids)
    const slice = await load.slice(SLICE_MS)
    wrong += slice.wrong
    return { micros: exactCpuMicros(pids) - before, requests: slice.requests }
  }
  try {
    for (const path of [WITHOUT, WITH]) {
      load.ask(path)
      await load.slice(WARM_UP_MS)
    }
    const without: Measured[] = []
    const withPolicy: Measured[] = []
    for (let i = 0; i < pairs; i++) {
      const isFirst = i % 2 === 0
      if (isFirst) without.push(await measure(WITHOUT))
      withPolicy.push(await measure(WITH))
      if (!isFirst) without.push(await measure(WITHOUT))
    }
    return summary(without, withPolicy, wrong)
  } finally {
    load.close()
  }
}

function summary(without: readonly Measured[], withPolicy: readonly Measured[], wrong: number): PolicyCost {
  const added = without.map((base, i) => 100 * (costOf([withPolicy[i]!]) / costOf([base]) - 1))
  return {
    pairs: without.length,
    requests: [...without, ...withPolicy].reduce((sum, slice) => sum + slice.requests, 0),
    baseMicros: costOf(without),
    addedPercent: mean(added),
    errorPercent: standardError(added),
    invalid: wrong > 0 ? `${wrong} answers were not 200` : null,
  }
}

function costOf(slices: readonly Measured[]): number {
  const micros = slices.reduce((sum, slice) => sum + slice.micros, 0)
  return micros / slices.reduce((sum, slice) => sum + slice.requests, 0)
}
