import { request } from 'node:http'
import { ordersXml, ordersXsd, REQUEST_STYLESHEET } from '../suite/orders.js'
import { SteadyLoad } from '../trial/steady-load.js'
import { optionsOf } from './options.js'
import { onTestBed, type TestBed } from './test-bed.js'

/**
 * What others notice of large documents: the latency of small requests at a constant rate, alone, and beside documents
 * of a megabyte that a policy works on, one after the other on each of some connections. `--rate N --seconds S
 * --bytes N --connections N`. The gateway has one worker and may use both cores, as its pool of threads does.
 */
const options = optionsOf({ rate: 500, seconds: 10, bytes: 1_000_000, connections: 2 })

const SMALL = { id: 'small', match: { path: '/', methods: ['GET'] }, respond: { status: 200, body: 'ok' } }
const XML = { type: 'text/xml', body: ordersXml(options.bytes) }
const JSON_TEXT = { type: 'application/json', body: ordersJson(options.bytes) }

/** The policies that compute, with a body for each. */
const LARGE: readonly { readonly use: string; readonly with: object; readonly sent: typeof XML }[] = [
  { use: 'json-schema', with: { schema: { inline: ordersSchema() } }, sent: JSON_TEXT },
  { use: 'xsd', with: { schemas: [{ inline: ordersXsd() }], select: 'soap-body' }, sent: XML },
  { use: 'xslt', with: { phase: 'request', stylesheet: { inline: REQUEST_STYLESHEET } }, sent: XML },
]

await onTestBed(study)

async function study(bed: TestBed): Promise<void> {
  const sink = await bed.sink()
  const routes = LARGE.map(({ use, with: settings }) => ({
    id: use,
    match: { path: `/${use}` },
    upstream: 'origin',
    policies: [{ use, with: settings }],
  }))
  const gateway = await bed.gateway(sink.url, { cpus: null, routes: [SMALL, ...routes] })
  const load = new SteadyLoad(Number(new URL(gateway.url).port), options.rate)
  await load.start()
  await seconds(3)
  load.span()
  console.log(
    '| beside | small requests | P50 ms | P99 ms | documents | ms each |\n| --- | --- | --- | --- | --- | --- |',
  )
  await tell('nothing', load, async () => 0)
  for (const { use, sent } of LARGE)
    await tell(use, load, (isOver) => stream(`${gateway.url}/${use}`, sent, isOver))
  await load.stop()
}

/** Small requests for some seconds, while something else goes on. */
async function tell(
  name: string,
  load: SteadyLoad,
  beside: (isOver: () => boolean) => Promise<number>,
): Promise<void> {
  let isOver = false
  load.span()
  const documents = Promise.all(Array.from({ length: options.connections }, () => beside(() => isOver)))
  await seconds(options.seconds)
  const { requests, p50Ms, p99Ms } = load.span()
  isOver = true
  const count = (await documents).reduce((sum, one) => sum + one, 0)
  const each = count === 0 ? '' : ((1000 * options.seconds * options.connections) / count).toFixed(0)
  console.log(`| ${name} | ${requests} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} | ${count} | ${each} |`)
}

/** Sends a document again and again; answers how often. */
async function stream(url: string, sent: typeof XML, isOver: () => boolean): Promise<number> {
  let count = 0
  while (!isOver()) {
    const status = await post(url, sent)
    if (status !== 200) throw new Error(`${url} answered ${status}`)
    count++
  }
  return count
}

function post(url: string, { type, body }: typeof XML): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
    const sending = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume()
      answer.once('end', () => resolve(answer.statusCode ?? 0))
    })
    sending.once('error', reject)
    sending.end(body)
  })
}

function ordersJson(bytes: number): string {
  const order = JSON.stringify({ symbol: 'IBM', buyer: 'b-0001', price: 12.5, volume: 300 })
  return `{"orders":[${Array.from({ length: Math.floor((bytes - 20) / (order.length + 1)) }, () => order).join(',')}]}`
}

function ordersSchema(): object {
  const order = {
    type: 'object',
    required: ['symbol', 'price', 'volume'],
    properties: {
      symbol: { type: 'string', maxLength: 8 },
      buyer: { type: 'string', pattern: '^b-[0-9]+$' },
      price: { type: 'number', minimum: 0 },
      volume: { type: 'integer', minimum: 1 },
    },
    additionalProperties: false,
  }
  return { type: 'object', properties: { orders: { type: 'array', items: order } }, required: ['orders'] }
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000))
}
