import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { hostAndPort } from './address.js'

/** How a sink answers. */
export interface LogSinkWish {
  /** Of 100 records so many are refused for now (429), which the gateway sends again. */
  readonly rejectPercent: number
  /** Before each answer. */
  readonly delayMs: number
}

/** What a sink has been given. */
export interface LogSinkTotals {
  readonly requests: number
  /** Taken; those that were refused come again. */
  readonly records: number
  readonly refused: number
  /** As they came, compressed or not. */
  readonly bytes: number
}

/** A running sink. */
export interface RunningLogSink {
  readonly url: string
  totals(): LogSinkTotals
  stop(): Promise<void>
}

/** Where the totals can be asked for. */
const TOTALS_PATH = '/_sink'
/** Larger than the bulks of any shipper; what is larger than that is no bulk. */
const MOST_BYTES = 64 * 1024 ** 2
const NEWLINE = 10
const LIST_BEGINS = 0x5b
/** Space, tab, carriage return, newline. */
const WHITESPACE: readonly number[] = [32, 9, 13, NEWLINE]
/** The client of Elasticsearch looks for it. */
const PRODUCT = { 'x-elastic-product': 'Elasticsearch' }
const TAKEN = '{"create":{"status":201}}'
const REFUSED =
  '{"create":{"status":429,"error":{"type":"es_rejected_execution_exception","reason":"the sink refuses a share"}}}'

/**
 * Takes what a traffic log ships, counts it and forgets it: bulks of Elasticsearch, and webhooks. It is for measuring what
 * the log costs the gateway without an Elasticsearch that shares the cores; it keeps nothing and looks no further than the lines.
 * @param address `host:port`; port 0 takes a free one. @throws Error when it cannot listen there.
 */
export async function startLogSink(wish: LogSinkWish, address: string): Promise<RunningLogSink> {
  const totals = { requests: 0, records: 0, refused: 0, bytes: 0, due: 0 }
  const server = http.createServer((request, response) => {
    answer(request, wish, totals)
      .then(({ status, body }) => {
        response.writeHead(status, { ...PRODUCT, 'content-type': 'application/json' })
        response.end(body)
      })
      // A client that goes away in the middle is none of our business.
      .catch(() => response.destroy())
  })
  const { host, port } = hostAndPort(address)
  server.listen(port, host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `cannot listen on ${address} (${error.code}); stop the other process, or choose another address`,
    )
  })
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    totals: () => toldOf(totals),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: string
}

/** `due` is what of the share to refuse is left, below one record. */
type Counted = { -readonly [name in keyof LogSinkTotals | 'due']: number }

function toldOf({ requests, records, refused, bytes }: Counted): LogSinkTotals {
  return { requests, records, refused, bytes }
}

async function answer(request: http.IncomingMessage, wish: LogSinkWish, totals: Counted): Promise<Answer> {
  const path = (request.url ?? '').split('?')[0]!
  const sent = await bodyOf(request)
  if (path === TOTALS_PATH) return { status: 200, body: JSON.stringify(toldOf(totals)) }
  if (sent === null) return { status: 413, body: '{}' }
  if (path.endsWith('/_search')) return { status: 200, body: '{"hits":{"hits":[]}}' }
  // Nothing is set up here, and whatever is to be set up is fine.
  if (request.method === 'GET' || request.method === 'HEAD')
    return { status: path === '/' || path === '/_index_template' ? 200 : 404, body: '{}' }
  const isBulk = path.endsWith('/_bulk')
  if (!isBulk && request.method === 'PUT') return { status: 200, body: '{"acknowledged":true}' }
  totals.requests++
  totals.bytes += sent.length
  const body =
    request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent, { maxOutputLength: MOST_BYTES }) : sent
  if (wish.delayMs > 0) await sleep(wish.delayMs)
  return isBulk ? bulkAnswer(linesOf(body), wish, totals) : webhookAnswer(recordsOf(body), totals)
}

function webhookAnswer(records: number | null, totals: Counted): Answer {
  if (records === null) return refusal('the body is no list of records')
  totals.records += records
  return { status: 200, body: '{}' }
}

/** In the words of Elasticsearch; nothing of it is counted. */
function refusal(reason: string): Answer {
  const error = { type: 'illegal_argument_exception', reason }
  return { status: 400, body: JSON.stringify({ error, status: 400 }) }
}

/** As Elasticsearch writes what the gateway asks for: of two lines one says what to do with the other. */
function bulkAnswer(lines: number, { rejectPercent }: LogSinkWish, totals: Counted): Answer {
  if (lines % 2 !== 0) return refusal(`the bulk has an odd number of lines, ${lines}`)
  const records = lines / 2
  totals.due += (records * rejectPercent) / 100
  const refused = Math.floor(totals.due)
  totals.due -= refused
  totals.records += records - refused
  totals.refused += refused
  const items = [...Array<string>(refused).fill(REFUSED), ...Array<string>(records - refused).fill(TAKEN)]
  return { status: 200, body: `{"items":[${items.join(',')}]}` }
}

/** A webhook sends a record in each line, or a list of them. Null: it is a list that cannot be read. */
function recordsOf(body: Buffer): number | null {
  const first = body.find((byte) => !WHITESPACE.includes(byte))
  if (first !== LIST_BEGINS) return linesOf(body)
  try {
    return (JSON.parse(body.toString()) as unknown[]).length
  } catch {
    return null
  }
}

/** Lines that hold something, whether a newline follows the last one or not. */
function linesOf(body: Buffer): number {
  let lines = 0
  for (let from = 0; from < body.length; ) {
    const newline = body.indexOf(NEWLINE, from)
    const end = newline === -1 ? body.length : newline
    if (!isBlank(body, from, end)) lines++
    from = end + 1
  }
  return lines
}

function isBlank(body: Buffer, from: number, end: number): boolean {
  for (let i = from; i < end; i++) if (!WHITESPACE.includes(body[i]!)) return false
  return true
}

/** Null: it is too large. It is read to its end, so that the client hears of it. */
async function bodyOf(request: http.IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request) {
    bytes += (part as Buffer).length
    if (bytes <= MOST_BYTES) parts.push(part as Buffer)
    else parts.length = 0
  }
  return bytes > MOST_BYTES ? null : Buffer.concat(parts)
}
