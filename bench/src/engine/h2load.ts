import type { Engine, LoadOrder, LoadResult } from '../model/engine.js'
import { assertInstalled } from './assert-installed.js'
import { bodyOf } from './call-body.js'
import { type LoadFiles, withLoadFiles } from './load-files.js'
import { coreCount, GRACE_SECONDS, runToSuccess, versionOf } from './program.js'

const TIMEOUT = '10s'

/**
 * h2load in its HTTP/1.1 mode: a closed loop with a warm-up of its own. Of latencies it tells the smallest, the largest, the
 * mean and the deviation, and no percentile: that is no spectrum, and there is none.
 */
export const h2load: Engine = {
  name: 'h2load',
  hasOpenLoop: false,
  remedy: 'install the package nghttp2-client',
  version: () => versionOf('h2load', '--version', /h2load nghttp2\/(\S+)/),
  run: runH2load,
}

async function runH2load(order: LoadOrder): Promise<LoadResult> {
  assertInstalled(h2load)
  if (order.perSecond !== null)
    throw new Error('h2load cannot hold a rate: take autocannon, wrk2 or oha for latency at a fixed rate')
  return withLoadFiles(order.dir, (files) => loaded(order, files))
}

async function loaded(order: LoadOrder, files: LoadFiles): Promise<LoadResult> {
  const threads = Math.min(order.connections, order.cpu === null ? 1 : coreCount(order.cpu))
  const size = [`-c${order.connections}`, `-t${threads}`, `-D${milliseconds(order.seconds)}`]
  const times = [`--warm-up-time=${milliseconds(order.warmUpSeconds)}`, `-N${TIMEOUT}`]
  const command = ['h2load', '--h1', ...size, ...times, ...callArguments(order, files)]
  const limitSeconds = order.warmUpSeconds + order.seconds + GRACE_SECONDS
  const { stdout, coresUsed } = await runToSuccess(command, { cpu: order.cpu, limitSeconds })
  return { ...h2loadResult(stdout, order), busyShare: coresUsed / threads }
}

/** A body makes it a POST, unless the pseudo field says otherwise; it works in HTTP/1.1 as well. */
function callArguments(order: LoadOrder, files: LoadFiles): string[] {
  const { method, headers, body, path } = order.call
  const args = ['-H', `:method: ${method}`]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  if (body !== null) args.push('-d', files.write('body', bodyOf(body)))
  return [...args, order.origin + path]
}

/**
 * What h2load's text says. It is silent about connections that cannot be made: where not one request was started each of
 * them counts as one error. Of requests that failed without a status those that did not time out were reset.
 * @throws Error when the text is none of h2load's.
 */
export function h2loadResult(text: string, order: LoadOrder): Omit<LoadResult, 'busyShare'> {
  const counts = /(\d+) started, .* (\d+) errored, (\d+) timeout/.exec(text)?.slice(1).map(Number)
  const statuses = /status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/.exec(text)?.slice(1).map(Number)
  if (counts === undefined || statuses === undefined) throw new Error(`h2load wrote no result:\n${text}`)
  const received = /^traffic: \S+ \((\d+)\) total/m.exec(text)?.[1]
  const [started, errored, timeout] = counts as [number, number, number]
  const [good, ...wrong] = statuses as [number, ...number[]]
  return {
    requests: good,
    seconds: order.seconds,
    errors: {
      connect: started === 0 ? order.connections : 0,
      timeout,
      reset: errored - timeout,
      status: wrong.reduce((sum, count) => sum + count, 0),
      other: 0,
    },
    latency: null,
    ...(received === undefined ? {} : { receivedBytes: Number(received) }),
  }
}

function milliseconds(seconds: number): string {
  return `${Math.round(seconds * 1000)}ms`
}
