import type { LoadOptions, LoadResult } from '../model/engine.js'
import { NO_ERRORS } from '../model/summary.js'
import { findProgram, programVersion } from '../process/executables.js'
import { freePort, LOOPBACK } from '../process/port.js'
import { coreCount, GRACE_SECONDS, type ProgramEnd, runToSuccess } from '../process/run-command.js'
import { type Placement, type RunningServer, startServer } from '../process/running-server.js'

/** Requests of a first load, from which the number for the wanted duration follows. */
const TRIAL_REQUESTS = 20_000

/** True if redis-server and redis-benchmark are installed. */
export function hasRedis(): boolean {
  return findProgram('redis-server') !== null && findProgram('redis-benchmark') !== null
}

/** Starts a Redis without persistence, with a thread per core. */
export async function startRedis(placement: Placement): Promise<RunningServer> {
  const port = await freePort()
  const file = findProgram('redis-server')!
  const settings = [
    '--bind',
    LOOPBACK,
    '--save',
    '',
    '--appendonly',
    'no',
    '--io-threads',
    String(placement.cores),
  ]
  const command = [file, '--port', String(port), ...settings]
  const version = programVersion(file, '--version') ?? 'unknown'
  return startServer({ name: 'redis', version, port, placement, command })
}

/** Returns a SET or GET load of one value by redis-benchmark: HTTP load generators do not speak its protocol. */
export function redisLoad(url: string, bytes: number): (options: LoadOptions) => Promise<LoadResult> {
  return async ({ call, connections, seconds, cpu }) => {
    const threads = Math.min(connections, cpu === null ? 1 : coreCount(cpu))
    const size = ['-c', String(connections), '-d', String(bytes), '--threads', String(threads)]
    const place = ['-h', LOOPBACK, '-p', new URL(url).port, '--csv', ...size]
    const limitSeconds = 10 * seconds + GRACE_SECONDS
    const run = (command: string, requests: number): Promise<ProgramEnd> =>
      runToSuccess(['redis-benchmark', ...place, '-t', command, '-n', String(requests)], {
        cpu,
        limitSeconds,
      })
    await run('set', connections)
    const command = call.method === 'PUT' ? 'set' : 'get'
    const trial = perSecondOf(await run(command, TRIAL_REQUESTS))
    const requests = Math.ceil(trial * seconds)
    const end = await run(command, requests)
    const busyShare = end.coresUsed / threads
    return { requests, seconds: requests / perSecondOf(end), errors: NO_ERRORS, latency: null, busyShare }
  }
}

/** Loads of less than a millisecond have no rate. */
function perSecondOf({ stdout }: ProgramEnd): number {
  const perSecond = Number(/^"[SG]ET","([\d.]+)"/m.exec(stdout)?.[1])
  if (perSecond > 0) return perSecond
  throw new Error(`redis-benchmark wrote no result:\n${stdout}`)
}
