import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CaptureRules, consumerOf, Exchange, type LogSink, NO_ROUTE, PHASE } from '@sluice/core'
import { assertIdentity, type ExchangeFields, setFields, type WritableExchange } from '@sluice/core/testing'
import { writeRecord } from './record/record.js'
import type { RecordEnv } from './record/record-env.js'
import { RecordLines } from './record/record-lines.js'
import { RecordWriter } from './record/record-writer.js'
import { parseSegmentFile } from './writer/segment-name.js'

export { assertIdentity }

/**
 * Creates a finished exchange like that of a gateway with one upstream. @param changes Fields to override.
 */
export function sampleExchange(changes: ExchangeFields = {}): Exchange {
  const x: WritableExchange = new Exchange()
  x.id = '019aa3f0-6c1e-7b7e-9d6f-3f1f2a4b5c6d'
  x.startedAt = Date.now()
  x.startedMono = performance.now() - 12.5
  x.method = 'POST'
  x.authority = 'api.example.com:8080'
  x.host = 'api.example.com'
  x.requestHeadBytes = 213
  x.rawPath = '/orders/42/lines'
  x.path = '/orders/42/lines'
  x.query = 'page=2&access_token=s3cr3t'
  x.headers = [
    'content-type',
    'application/json',
    'user-agent',
    'curl/8.5.0',
    'authorization',
    'Basic c2VjcmV0',
  ]
  x.peer = '10.0.0.9'
  x.clientIp = '203.0.113.7'
  x.route = { ...NO_ROUTE, id: 'orders', template: '/orders/{id}/*' }
  x.consumer = consumerOf('basic-auth', 'c-1', { name: 'acme' })
  x.attempts.upstream = 'orders'
  x.attempts.target = 'http://10.0.0.5:9000'
  x.attempts.status = 200
  x.attempts.count = 1
  x.times.keep()
  x.times.ms[PHASE.route] = 0.25
  x.times.ms[PHASE.requestChain] = 1
  x.times.ms[PHASE.upstreamFirstByte] = 8.5
  x.times.ms[PHASE.upstreamBody] = 2.75
  x.endedMono = x.startedMono + 12.5
  x.status = 200
  x.responseHeaders = ['content-type', 'application/json', 'set-cookie', 'sid=s3cr3t']
  x.requestBytes = 128
  x.responseBytes = 2048
  return setFields(x, changes)
}

const writer = new RecordWriter()

/** Returns the record of an exchange as a line of JSON, without the newline. */
export function encodeRecord(x: Exchange, env: RecordEnv, hasBodies = true): string {
  writer.begin()
  writeRecord(x, env, writer, hasBodies)
  const lines = new RecordLines(env.texts.memory)
  lines.append(writer.words, 0, writer.length)
  return lines.lines.toString('latin1').slice(0, -1)
}

const OFF = { headers: false, body: false }

/** Creates capture rules that capture nothing except what a test requests. */
export function captureRules(changes: Partial<CaptureRules> = {}): CaptureRules {
  return {
    ...{ requestIn: OFF, requestUp: OFF, responseUp: OFF, responseOut: OFF },
    ...{ maxBodyBytes: 4096, sha256: false, headersAllow: null, headersDeny: [] },
    ...{ binary: 'omit', multipart: 'names', keepBodyOn: null, ...changes },
  }
}

/** Resolves when the condition is true. @throws Error if it is not within `deadlineMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  deadlineMs = 300_000,
): Promise<void> {
  const endMono = performance.now() + deadlineMs
  // Poll long-running conditions less often, because the machine needs the time to fulfil them.
  for (let waitMs = 5; !(await condition()); waitMs = Math.min(40, waitMs + 1)) {
    if (performance.now() > endMono) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await sleep(waitMs)
  }
}

let scratchRoot = ''

/**
 * Creates a temporary directory. It is deleted at the end of the process instead of the test, because a sink
 * that closes late would create it again.
 */
export function scratchDir(): string {
  if (scratchRoot === '') {
    scratchRoot = mkdtempSync(join(tmpdir(), 'sluice-logger-'))
    process.once('exit', () => rmSync(scratchRoot, { recursive: true, force: true }))
  }
  return mkdtempSync(join(scratchRoot, 'test-'))
}

/** Returns the complete lines of all segments in a directory, in the order of the file names. */
export function segmentLines(dir: string): string[] {
  const lines: string[] = []
  for (const file of segmentFiles(dir)) {
    const pieces = readFileSync(join(dir, file), 'utf8').split('\n')
    lines.push(...pieces.slice(0, -1))
  }
  return lines
}

/** Returns the segment files in a directory, sorted by name. */
export function segmentFiles(dir: string): string[] {
  return readdirSync(dir)
    .filter((file) => parseSegmentFile(file) !== null)
    .sort()
}

/** Closes a sink. Fails unless every record is then counted exactly once. */
export async function closeWhole(sink: LogSink, deadlineMs: number): Promise<void> {
  await sink.close(deadlineMs)
  assertIdentity(sink.identity())
}
