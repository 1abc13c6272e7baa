import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { type JsonServer, serveJson } from './json-server.js'

/** Data received by a sink, in bytes as sent, compressed or not. */
export interface LogSinkTotals {
  requests: number
  records: number
  bytes: number
}

/** A running sink. Its totals are also available at `/_sink`. */
export interface RunningLogSink extends JsonServer {
  readonly totals: Readonly<LogSinkTotals>
}

/**
 * Starts a server that counts and discards log records: Elasticsearch bulk requests, and webhooks with lines or a
 * list. It measures the cost of logging without an Elasticsearch on the same cores.
 * @param delayMs delay of each response
 * @param address `host:port`; port 0 takes a free one
 * @throws Error if it cannot listen there
 */
export async function startLogSink(delayMs: number, address: string): Promise<RunningLogSink> {
  const totals = { requests: 0, records: 0, bytes: 0 }
  // The Elasticsearch client checks the product.
  const headers = { 'x-elastic-product': 'Elasticsearch' }
  return { ...(await serveJson((request) => answer(request, delayMs, totals), address, headers)), totals }
}

/** Accepts all setup requests. */
async function answer(request: IncomingMessage, delayMs: number, totals: LogSinkTotals): Promise<string> {
  const path = (request.url ?? '').split('?')[0]!
  const sent = Buffer.concat(await request.toArray())
  if (path === '/_sink') return JSON.stringify(totals)
  if (path.endsWith('/_search')) return '{"hits":{"hits":[]}}'
  if (request.method !== 'POST') return '{"acknowledged":true}'
  const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent).toString()
  const records = recordsOf(text, path.endsWith('/_bulk'))
  totals.requests++
  totals.bytes += sent.length
  totals.records += records
  if (delayMs > 0) await sleep(delayMs)
  return `{"items":[${Array<string>(records).fill('{"create":{"status":201}}').join(',')}]}`
}

function recordsOf(text: string, isBulk: boolean): number {
  if (text.startsWith('[')) return (JSON.parse(text) as unknown[]).length
  const lines = text.split('\n').filter((line) => line.trim() !== '').length
  // One of two lines in a bulk request is the action.
  return isBulk ? lines / 2 : lines
}
