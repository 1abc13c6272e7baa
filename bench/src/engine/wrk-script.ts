import { readFileSync } from 'node:fs'
import type { ErrorClass, LoadOrder, LoadResult } from '../model/engine.js'
import { bodyOf } from './call-body.js'
import type { LoadFiles } from './load-files.js'

/** What the script of wrk or wrk2 wrote when the load was over. */
export interface WrkReport {
  readonly durationMicros: number
  /** All answers, whatever their status. */
  readonly requests: number
  /** Of all answers. */
  readonly receivedBytes: number
  /** Of each request. */
  readonly requestBytes: number
  /** User and system time of all threads, until the script was called. */
  readonly cpuMicros: number
  readonly errors: { readonly [kind in 'connect' | 'read' | 'write' | 'status' | 'timeout']: number }
  /** Values in microseconds and how often each was seen; null: there are too many to list, or none was asked for. */
  readonly values: readonly (readonly [micros: number, count: number])[] | null
}

type Traffic = Required<Pick<LoadResult, 'receivedBytes' | 'sentBytes'>>

/** The script of a load and where it writes its report. */
export interface WrkScript {
  readonly file: string
  readonly report: string
}

/** Slower answers are errors. wrk's own two seconds would hide what an overloaded server does. */
export const TIMEOUT_SECONDS = 10

/**
 * wrk finds its n-th value by counting up from the smallest, so that listing many values that lie far apart takes the
 * square of their range. So many steps take about two seconds; a distribution that needs more is left alone.
 */
const MAX_STEPS = 2e9

/**
 * Writes the script that makes the call, also its path, which everybody could read among the arguments of the program;
 * `listsValues` wants every latency in the report (wrk's own API, not wrk2's).
 */
export function writeScript(order: LoadOrder, files: LoadFiles, listsValues: boolean): WrkScript {
  const report = files.path('report.json')
  const { method, path, headers, body } = order.call
  const lines = [`wrk.method = ${luaText(method)}`, `wrk.path = ${luaText(path)}`]
  for (const [name, value] of Object.entries(headers)) {
    // wrk adds its own Host unless it finds the name in this spelling.
    const known = name.toLowerCase() === 'host' ? 'Host' : name
    lines.push(`wrk.headers[${luaText(known)}] = ${luaText(value)}`)
  }
  if (body !== null) {
    const bodyFile = files.write('body', bodyOf(body))
    lines.push(`wrk.body = assert(io.open(${luaText(bodyFile)}, "rb")):read("*a")`)
  }
  const file = files.write('load.lua', `${lines.join('\n')}\n${doneFunction(report, listsValues)}`)
  return { file, report }
}

/** What the script wrote. @throws Error when it wrote nothing. */
export function readReport(script: WrkScript): WrkReport {
  return JSON.parse(readFileSync(script.report, 'utf8')) as WrkReport
}

/** A socket that fails while it reads or writes was reset, whatever the reason. */
export function errorClasses({ errors }: WrkReport): Record<ErrorClass, number> {
  const { connect, read, write, status, timeout } = errors
  return { connect, timeout, reset: read + write, status, other: 0 }
}

/** Seconds as wrk takes them: whole ones, at least one. */
export function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.round(seconds))
}

/** `os.clock` is the CPU time of the whole process, all threads, and is taken before the script uses any itself. */
function doneFunction(report: string, listsValues: boolean): string {
  return `${REQUEST_BYTES}${LIST_VALUES}
function done(summary, latency, requests)
  local cpu = os.clock() * 1e6
  local out = assert(io.open(${luaText(report)}, "w"))
  local e = summary.errors
  out:write(string.format('{"durationMicros":%.0f,"requests":%.0f,"cpuMicros":%.0f,', summary.duration, summary.requests, cpu))
  out:write(string.format('"receivedBytes":%.0f,"requestBytes":%.0f,', summary.bytes, thread:get("requestBytes")))
  out:write(string.format('"errors":{"connect":%.0f,"read":%.0f,"write":%.0f,"status":%.0f,"timeout":%.0f},', e.connect, e.read, e.write, e.status, e.timeout))
  out:write('"values":' .. (${listsValues} and values(latency) or "null") .. '}')
  out:close()
end
`
}

/** The threads make the request, with the Host that they add; `done` runs outside of them. */
const REQUEST_BYTES = `
local thread
function setup(started)
  thread = started
end
function init()
  requestBytes = #wrk.format()
end
`

/**
 * All values of wrk's distribution. They stand in an array behind four numbers (count, limit, smallest, largest), where
 * LuaJIT can read them in one pass; the three known ones are compared first, so that another layout is noticed. wrk's own
 * interface, which is slow, is the way where they differ.
 */
const LIST_VALUES = `
local function rawValues(latency)
  local stats = require("ffi").cast("uint64_t **", latency)[0]
  local limit, least, most = tonumber(stats[1]), tonumber(stats[2]), tonumber(stats[3])
  if limit ~= ${TIMEOUT_SECONDS * 1e6 + 1} or least ~= latency.min or most ~= latency.max then error("another layout") end
  local parts = {}
  for value = least, most do
    local count = tonumber(stats[4 + value])
    if count > 0 then parts[#parts + 1] = string.format("[%.0f,%.0f]", value, count) end
  end
  return parts
end
local function listedValues(latency)
  local parts, steps = {}, 0
  for i = 1, #latency do
    local value, count = latency(i)
    parts[i] = string.format("[%.0f,%.0f]", value, count)
    steps = steps + value - latency.min
    if steps > ${MAX_STEPS} then return nil end
  end
  return parts
end
local function values(latency)
  if latency.max == 0 then return "[]" end
  local isRaw, parts = pcall(rawValues, latency)
  if not isRaw then parts = listedValues(latency) end
  return parts == nil and "null" or "[" .. table.concat(parts, ",") .. "]"
end
`

/** What went over the wire: every answer that is counted was to a request of the same bytes. */
export function trafficOf({ requests, requestBytes, receivedBytes }: WrkReport): Traffic {
  return { receivedBytes, sentBytes: requests * requestBytes }
}

/** A Lua string: what is not plain ASCII is written as its byte. */
function luaText(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
    return isPlain ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`
  })
  return `"${bytes.join('')}"`
}
