import http from 'node:http'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { closedPort } from '@sluice/core/testing'

/** Responses of a `RecordReceiver`. */
export type ReceiverMode =
  | 'works'
  /** Takes requests without a response. */
  | 'silent'
  /** Stores the records, then breaks the connection. */
  | 'breaks'
  /** Stores the records, and responds after `SLOW_MS`. */
  | 'slow'
  /** Every second record of a bulk request gets the status 429. */
  | 'half'
  /** Status for whole requests. */
  | number

const SLOW_MS = 300
const HEADERS = { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' }

/** Log target on a fixed port. It takes bulk requests like Elasticsearch, and records as lines like a webhook. */
export class RecordReceiver {
  mode: ReceiverMode = 'works'
  /** Returns true for a record that is refused permanently. */
  refuses: (line: string) => boolean = () => false
  onRequest: () => void = () => {}
  /** Stored records as JSON. */
  readonly lines: string[] = []
  /** Number of requests that had no success. */
  failed = 0
  readonly #ids = new Set<string>()
  readonly #held = new Set<http.ServerResponse>()
  #server: http.Server | null = null
  #port = 0

  /** @param port By default one that nobody else gets while the receiver is closed. */
  static async start(t: TestContext, port?: number): Promise<RecordReceiver> {
    const receiver = new RecordReceiver()
    receiver.#port = port ?? (await closedPort())
    await receiver.open()
    t.after(() => receiver.close())
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`
  }

  async open(): Promise<void> {
    const server = http.createServer((req, res) => void this.#take(req, res))
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#server = server
  }

  /** Breaks all connections and refuses new ones until `open`. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server === null) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  /** Responds normally from now on. Requests without a response lose their connection. */
  recover(): void {
    this.mode = 'works'
    for (const res of this.#held) res.destroy()
    this.#held.clear()
  }

  async #take(req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of req) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    this.onRequest()
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\n')
    const { mode } = this
    if (mode === 'silent') this.#held.add(res)
    if (mode !== 'works') this.failed++
    if (mode === 'silent') return
    if (typeof mode === 'number') {
      res.writeHead(mode, HEADERS).end('{}')
      return
    }
    const isBulk = req.url?.includes('_bulk') === true
    const [status, body] = isBulk ? this.#storeBulk(lines, mode) : this.#storeLines(lines)
    if (mode === 'breaks') res.destroy()
    else {
      if (mode === 'slow') await delay(SLOW_MS)
      res.writeHead(status, HEADERS).end(body)
    }
  }

  #storeLines(lines: readonly string[]): [number, string] {
    // 413 makes the sender try smaller parts, down to the record that is refused.
    if (lines.some(this.refuses)) return [lines.length === 1 ? 400 : 413, '']
    this.lines.push(...lines)
    return [200, '']
  }

  #storeBulk(lines: readonly string[], mode: ReceiverMode): [number, string] {
    const items: object[] = []
    for (let i = 0; i < lines.length; i += 2) {
      const { _id: id } = (JSON.parse(lines[i]!) as { create: { _id: string } }).create
      const status = mode === 'half' && i % 4 === 0 ? 429 : this.#create(id, lines[i + 1]!)
      items.push({ create: { status, ...(status === 400 ? { error: REFUSED } : {}) } })
    }
    return [200, JSON.stringify({ items })]
  }

  /** Stores a record unless its id exists. Returns the status. */
  #create(id: string, line: string): number {
    if (this.refuses(line)) return 400
    if (this.#ids.has(id)) return 409
    this.#ids.add(id)
    this.lines.push(line)
    return 201
  }
}

const REFUSED = { type: 'document_parsing_exception', reason: 'failed to parse' }
