import { coreCount, GRACE_SECONDS, type ProgramEnd, runToSuccess } from '../engine/program.js'
import type { LoadOptions, LoadResult } from '../model/engine.js'
import { NO_ERRORS } from '../model/summary.js'
import { freePort, LOOPBACK } from './port.js'
import { findProgram, programVersion } from './program.js'
import { type Placement, type RunningServer, startServer } from './running-server.js'

/** Its first load, from which the number of requests follows that take the wanted time. */
const TRIAL_REQUESTS = 20_000

/** Whether it can stand beside a cache server: Debian's redis-server, with redis-benchmark of redis-tools. */
export function hasRedis(): boolean {
  return findProgram('redis-server') !== null && findProgram('redis-benchmark') !== null
}

/** Starts a Redis that keeps nothing on disk, with a thread for each core. */
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

/** SET or GET of one value of so many bytes, by redis-benchmark: load generators for HTTP do not speak its protocol. */
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
