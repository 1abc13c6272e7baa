import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { hostAndPort } from './port.js'

/** What a sink has been given; bytes as they came, compressed or not. */
export interface LogSinkTotals {
  requests: number
  records: number
  bytes: number
}

/** A running sink; its totals can also be asked for at `/_sink`. */
export interface RunningLogSink {
  readonly url: string
  readonly totals: Readonly<LogSinkTotals>
  stop(): Promise<void>
}

/**
 * Takes what a traffic log ships, counts it and forgets it: bulks of Elasticsearch, and webhooks that send a record in
 * each line or a list of them. It is for measuring what the log costs the gateway without an Elasticsearch that shares the cores.
 * @param delayMs before each answer. @param address `host:port`; port 0 takes a free one.
 * @throws Error when it cannot listen there.
 */
export async function startLogSink(delayMs: number, address: string): Promise<RunningLogSink> {
  const totals = { requests: 0, records: 0, bytes: 0 }
  const server = http.createServer((request, response) => {
    // The client of Elasticsearch looks for the product.
    response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json')
    // A client that goes away in the middle is none of our business.
    answer(request, delayMs, totals).then(
      (body) => response.end(body),
      () => response.destroy(),
    )
  })
  const { host, port } = hostAndPort(address)
  server.listen(port, host)
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(
      `cannot listen on ${address} (${code}); stop the other process, or choose another address`,
    )
  })
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    totals,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Whatever is to be set up is fine. */
async function answer(
  request: http.IncomingMessage,
  delayMs: number,
  totals: LogSinkTotals,
): Promise<string> {
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
