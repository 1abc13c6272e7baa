import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RunningServer } from '../contestant/running-server.js'
import { cpuMicros, stolenMicros, treeCpuMicros } from '../measure/process-use.js'
import { LOAD_CPU, PROXY_CPU } from './test-bed.js'

/** What is asked of every contestant. */
export interface RoundScenario {
  readonly name: string
  readonly path: string
  /** Bytes of the request body; 0: GET. */
  readonly bodyBytes: number
}

/** What one round of load gave. */
export interface Round {
  readonly requests: number
  readonly perSecond: number
  /** User and system time of the contestant's process tree over the completed requests. */
  readonly cpuMicrosPerRequest: number
  /** The part of it that the first process of the tree used: the supervisor, the nginx master. */
  readonly supervisorMicrosPerRequest: number
  /** CPU time over the time that its core was there: near 1 when the contestant, alone on it, was the bottleneck. */
  readonly busyShare: number
  /** Null when the round counts, else why not. */
  readonly invalid: string | null
}

/** For how long and where a round runs. */
export interface RoundPlace {
  readonly seconds: number
  /** For the program that steers the load. */
  readonly dir: string
  /** The core of the load; null: wherever the system puts it. */
  readonly cpu?: string | null
}

const CONNECTIONS = 64

/** Loads a contestant with wrk for some seconds, from one core or, with null, from wherever the system puts it. @throws Error when wrk cannot be run. */
export async function runRound(
  contestant: RunningServer,
  scenario: RoundScenario,
  { seconds, dir, cpu = LOAD_CPU }: RoundPlace,
): Promise<Round> {
  const before = treeCpuMicros(contestant.pid)
  const supervisorBefore = cpuMicros(contestant.pid)
  const stolenBefore = stolenMicros(PROXY_CPU)
  const startMono = performance.now()
  const load = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script(scenario, dir)]
  const stdout = await wrk(cpu, ...load, contestant.url + scenario.path)
  const used = treeCpuMicros(contestant.pid) - before
  const supervisor = cpuMicros(contestant.pid) - supervisorBefore
  const elapsedMicros = (performance.now() - startMono) * 1000 - (stolenMicros(PROXY_CPU) - stolenBefore)
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0)
  const wrong = /(Non-2xx.*|Socket errors.*)/.exec(stdout)?.[1] ?? null
  return {
    requests,
    perSecond: Math.round(requests / seconds),
    cpuMicrosPerRequest: requests === 0 ? Number.NaN : used / requests,
    supervisorMicrosPerRequest: requests === 0 ? Number.NaN : supervisor / requests,
    busyShare: used / elapsedMicros,
    invalid: requests === 0 ? 'no request was completed' : wrong,
  }
}

/** What wrk prints. Waiting for it leaves this process free to end on a signal. */
async function wrk(cpu: string | null, ...args: string[]): Promise<string> {
  const [program, ...rest] = cpu === null ? ['wrk', ...args] : ['taskset', '-c', cpu, 'wrk', ...args]
  try {
    const { stdout } = await promisify(execFile)(program!, rest)
    return stdout
  } catch (error) {
    throw new Error(`wrk failed: ${(error as Error).message}`, { cause: error })
  }
}

function script(scenario: RoundScenario, dir: string): string {
  const file = join(dir, `${scenario.name.replace(/\W+/g, '-')}.lua`)
  const post = `wrk.method = "POST"\nwrk.body = string.rep("x", ${scenario.bodyBytes})\n`
  writeFileSync(file, scenario.bodyBytes === 0 ? '' : post)
  return file
}
