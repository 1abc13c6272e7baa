import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Engine, LoadOptions, LoadResult } from '../model/engine.js'
import { NO_ERRORS, type Spectrum } from '../model/summary.js'
import { versionOf } from '../process/executables.js'
import { coreCount, GRACE_SECONDS, type ProgramEnd, runProgram } from '../process/run-command.js'
import { bodyOf, writePrivate } from './call-body.js'

/** Timeout in seconds. wrk's default of two seconds would hide the behaviour of an overloaded server. */
const TIMEOUT_SECONDS = 10
const PERCENTILES = [50, 75, 90, 95, 98, 99, 99.9, 99.99]
const REPORT = 'wrk-report.json'

/**
 * wrk, the fastest closed-loop load generator. It has no warm-up, so a discarded run precedes the measured one. It
 * counts redirects as success, so one request afterwards checks the status. It mixes latencies of all statuses, so one
 * wrong status invalidates them.
 */
export const wrk: Engine = {
  name: 'wrk',
  hasOpenLoop: false,
  remedy: 'install the package wrk',
  version: () => versionOf('wrk', '-v'),
  run: async (options) => {
    if (options.perSecond !== null) throw new Error('wrk cannot hold a rate')
    const { connections, cpu, warmUpSeconds } = options
    const threads = Math.min(connections, cpu === null ? 1 : coreCount(cpu))
    const script = writePrivate(options, 'load.lua', scriptOf(options))
    const load = (seconds: number): Promise<ProgramEnd> => {
      const size = [`-t${threads}`, `-c${connections}`, `-d${Math.max(1, Math.round(seconds))}s`]
      const command = ['wrk', ...size, '--timeout', `${TIMEOUT_SECONDS}s`, '-s', script, options.origin]
      return runProgram(command, { cpu, limitSeconds: seconds + GRACE_SECONDS })
    }
    if (warmUpSeconds > 0) await load(warmUpSeconds)
    const end = await load(options.seconds)
    if (end.status !== 0) return refused(options, end)
    const report = Value.Parse(WrkReport, JSON.parse(readFileSync(join(options.dir, REPORT), 'utf8')))
    return resultOf(report, threads, await isRedirected(options))
  },
}

/**
 * Returns the result if wrk could not connect: it sends one request before it starts.
 * @throws Error if wrk failed for another reason
 */
function refused(options: LoadOptions, { status, stderr }: ProgramEnd): LoadResult {
  if (!/unable to connect/.test(stderr)) throw new Error(`wrk failed with status ${status}: ${stderr}`)
  const errors = { ...NO_ERRORS, connect: options.connections }
  return { requests: 0, seconds: options.seconds, errors, latency: null, busyShare: 0 }
}

/** Report of the script at the end of the load. */
const WrkReport = Type.Object({
  durationMicros: Type.Number(),
  /** Responses with any status. */
  requests: Type.Number(),
  /** CPU time of all threads up to the moment the script runs. */
  cpuMicros: Type.Number(),
  errors: Type.Object({
    connect: Type.Number(),
    read: Type.Number(),
    write: Type.Number(),
    status: Type.Number(),
    timeout: Type.Number(),
  }),
  latency: Type.Object({
    ...{ mean: Type.Number(), stdev: Type.Number(), max: Type.Number() },
    percentiles: Type.Array(Type.Number()),
  }),
})
type WrkReport = Static<typeof WrkReport>

function resultOf(report: WrkReport, threads: number, isWrong: boolean): LoadResult {
  const { connect, read, write, status, timeout } = report.errors
  const wrong = isWrong ? report.requests - timeout : status
  const requests = report.requests - wrong - timeout
  return {
    requests,
    seconds: report.durationMicros / 1e6,
    errors: { connect, timeout, reset: read + write, status: wrong, other: 0 },
    latency: wrong > 0 || requests === 0 ? null : spectrumOf(report, requests),
    busyShare: report.cpuMicros / report.durationMicros / threads,
  }
}

function spectrumOf({ latency: { mean, stdev, max, percentiles } }: WrkReport, count: number): Spectrum {
  return {
    isCorrected: false,
    count,
    meanMicros: mean,
    stdevMicros: stdev,
    maxMicros: max,
    percentiles: PERCENTILES.map((percentile, i) => ({ percentile, micros: percentiles[i]! })),
    hdr: null,
  }
}

async function isRedirected({ origin, call }: LoadOptions): Promise<boolean> {
  const { method, path, headers, body } = call
  const init = { method, headers, body: body === null ? null : bodyOf(body), redirect: 'manual' } as const
  const answer = await fetch(origin + path, { ...init, signal: AbortSignal.timeout(10_000) }).catch(
    () => null,
  )
  await answer?.body?.cancel()
  return answer !== null && answer.status >= 300 && answer.status < 400
}

/** Returns a script with the request and the report. Arguments of wrk would be visible to all users. */
function scriptOf(options: LoadOptions): string {
  const { method, path, headers, body } = options.call
  const lines = [`wrk.method = ${luaText(method)}`, `wrk.path = ${luaText(path)}`]
  for (const [name, value] of Object.entries(headers)) {
    // wrk adds a Host header unless it finds this spelling.
    const known = name.toLowerCase() === 'host' ? 'Host' : name
    lines.push(`wrk.headers[${luaText(known)}] = ${luaText(value)}`)
  }
  if (body !== null) {
    const file = writePrivate(options, 'body', bodyOf(body))
    lines.push(`wrk.body = assert(io.open(${luaText(file)}, "rb")):read("*a")`)
  }
  return `${lines.join('\n')}
function done(summary, latency)
  local cpu = os.clock() * 1e6
  local values = {}
  for i, p in ipairs({${PERCENTILES.join(', ')}}) do values[i] = string.format("%.0f", latency:percentile(p)) end
  local e = summary.errors
  local out = assert(io.open(${luaText(join(options.dir, REPORT))}, "w"))
  out:write(string.format('{"durationMicros":%.0f,"requests":%.0f,"cpuMicros":%.0f,', summary.duration, summary.requests, cpu))
  out:write(string.format('"errors":{"connect":%.0f,"read":%.0f,"write":%.0f,"status":%.0f,"timeout":%.0f},', e.connect, e.read, e.write, e.status, e.timeout))
  local mean, stdev = 0, 0
  if latency.max > 0 then mean, stdev = latency.mean, latency.stdev end
  out:write(string.format('"latency":{"mean":%.3f,"stdev":%.3f,"max":%.0f,"percentiles":[%s]}}', mean, stdev, latency.max, table.concat(values, ",")))
  out:close()
end
`
}

/** Returns a Lua string. Non-ASCII bytes are escaped. */
function luaText(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
    return isPlain ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`
  })
  return `"${bytes.join('')}"`
}
