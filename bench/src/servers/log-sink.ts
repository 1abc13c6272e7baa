import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { type JsonServer, serveJson } from './json-server.js'

/** What a sink has been given; bytes as they came, compressed or not. */
export interface LogSinkTotals {
  requests: number
  records: number
  bytes: number
}

/** A running sink; its totals can also be asked for at `/_sink`. */
export interface RunningLogSink extends JsonServer {
  readonly totals: Readonly<LogSinkTotals>
}

/**
 * Takes what a traffic log ships, counts it and forgets it: bulks of Elasticsearch, and webhooks that send a record in
 * each line or a list of them. It is for measuring what the log costs the gateway without an Elasticsearch that shares the cores.
 * @param delayMs before each answer. @param address `host:port`; port 0 takes a free one.
 * @throws Error when it cannot listen there.
 */
export async function startLogSink(delayMs: number, address: string): Promise<RunningLogSink> {
  const totals = { requests: 0, records: 0, bytes: 0 }
  // The client of Elasticsearch looks for the product.
  const headers = { 'x-elastic-product': 'Elasticsearch' }
  return { ...(await serveJson((request) => answer(request, delayMs, totals), address, headers)), totals }
}

/** Whatever is to be set up is fine. */
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
  // Of two lines of a bulk one says what to do with the other.
  return isBulk ? lines / 2 : lines
}
