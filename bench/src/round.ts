import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Contestant, PROXY_CPU } from './contestant.js'
import { cpuMicros, processTree, stolenMicros } from './process-cpu.js'

/** What is asked of every contestant. */
export interface Scenario {
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

const CONNECTIONS = 64

/** Loads a contestant with wrk for some seconds. @throws Error when wrk cannot be run. */
export function runRound(contestant: Contestant, scenario: Scenario, seconds: number, dir: string): Round {
  const before = treeCpu(contestant.pid)
  const supervisorBefore = cpuMicros(contestant.pid)
  const stolenBefore = stolenMicros(PROXY_CPU)
  const startMono = performance.now()
  const args = ['-c', '1', 'wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script(scenario, dir)]
  const { status, stdout, stderr } = spawnSync('taskset', [...args, contestant.url + scenario.path], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`wrk failed: ${stderr}`)
  const cpu = treeCpu(contestant.pid) - before
  const supervisor = cpuMicros(contestant.pid) - supervisorBefore
  const elapsedMicros = (performance.now() - startMono) * 1000 - (stolenMicros(PROXY_CPU) - stolenBefore)
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0)
  const wrong = /(Non-2xx.*|Socket errors.*)/.exec(stdout)?.[1] ?? null
  return {
    requests,
    perSecond: Math.round(requests / seconds),
    cpuMicrosPerRequest: requests === 0 ? Number.NaN : cpu / requests,
    supervisorMicrosPerRequest: requests === 0 ? Number.NaN : supervisor / requests,
    busyShare: cpu / elapsedMicros,
    invalid: requests === 0 ? 'no request was completed' : wrong,
  }
}

function treeCpu(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + cpuMicros(pid), 0)
}

function script(scenario: Scenario, dir: string): string {
  const file = join(dir, `${scenario.name.replace(/\W+/g, '-')}.lua`)
  const post = `wrk.method = "POST"\nwrk.body = string.rep("x", ${scenario.bodyBytes})\n`
  writeFileSync(file, scenario.bodyBytes === 0 ? '' : post)
  return file
}
