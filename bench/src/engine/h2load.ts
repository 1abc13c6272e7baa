import type { Engine, LoadOptions, LoadResult } from '../model/engine.js'
import { versionOf } from '../process/executables.js'
import { coreCount, GRACE_SECONDS, runToSuccess } from '../process/run-command.js'
import { bodyOf, writePrivate } from './call-body.js'

/**
 * h2load in HTTP/1.1 mode: a closed loop with a warm-up. It reports minimum, maximum, mean and deviation of latencies
 * but no percentiles, so there is no spectrum.
 */
export const h2load: Engine = {
  name: 'h2load',
  hasOpenLoop: false,
  remedy: 'install the package nghttp2-client',
  version: () => versionOf('h2load', '--version'),
  run: async (options) => {
    if (options.perSecond !== null) throw new Error('h2load cannot hold a rate')
    const { connections, warmUpSeconds, seconds, cpu } = options
    const threads = Math.min(connections, cpu === null ? 1 : coreCount(cpu))
    const size = [`-c${connections}`, `-t${threads}`, `-D${milliseconds(seconds)}`]
    const times = [`--warm-up-time=${milliseconds(warmUpSeconds)}`, '-N10s']
    const { stdout, coresUsed } = await runToSuccess(
      ['h2load', '--h1', ...size, ...times, ...callArguments(options)],
      { cpu, limitSeconds: warmUpSeconds + seconds + GRACE_SECONDS },
    )
    return { ...h2loadResult(stdout, options), busyShare: coresUsed / threads }
  },
}

/** A body makes it a POST unless `:method` says otherwise, which also works in HTTP/1.1. */
function callArguments(options: LoadOptions): string[] {
  const { method, headers, body, path } = options.call
  const args = ['-H', `:method: ${method}`]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  if (body !== null) args.push('-d', writePrivate(options, 'body', bodyOf(body)))
  return [...args, options.origin + path]
}

/**
 * Parses h2load's output. h2load does not report failed connects: if no request started, each connection counts as
 * one error. Failed requests without a status that did not time out were reset.
 * @throws Error if the text is not from h2load.
 */
export function h2loadResult(text: string, options: LoadOptions): Omit<LoadResult, 'busyShare'> {
  const counts = /(\d+) started, .* (\d+) errored, (\d+) timeout/.exec(text)?.slice(1).map(Number)
  const statuses = /status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/.exec(text)?.slice(1).map(Number)
  if (counts === undefined || statuses === undefined) throw new Error(`h2load wrote no result:\n${text}`)
  const [started, errored, timeout] = counts as [number, number, number]
  const [good, ...wrong] = statuses as [number, ...number[]]
  return {
    requests: good,
    seconds: options.seconds,
    errors: {
      connect: started === 0 ? options.connections : 0,
      timeout,
      reset: errored - timeout,
      status: wrong.reduce((sum, count) => sum + count, 0),
      other: 0,
    },
    latency: null,
  }
}

function milliseconds(seconds: number): string {
  return `${Math.round(seconds * 1000)}ms`
}
