import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'

/** A request to the receiver. */
export interface ReceivedExport {
  readonly headers: IncomingHttpHeaders
  readonly path: string
  readonly body: Buffer
}

/** A receiver of OTLP requests. It answers with `status`. */
export interface TraceReceiver {
  readonly url: string
  readonly exports: readonly ReceivedExport[]
  /** Returns true if a request contains the text, such as the name of a span. */
  has(text: string): boolean
  status: number
}

/** Starts a receiver of OTLP requests. It is closed after the test. */
export async function traceReceiver(t: TestContext): Promise<TraceReceiver> {
  const exports: ReceivedExport[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { headers, url = '' } = request
    const bytes = Buffer.concat(chunks)
    exports.push({
      headers,
      path: url,
      body: headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes,
    })
    response.writeHead(receiver.status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const receiver: TraceReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exports,
    has: (text) => exports.some(({ body }) => body.includes(text)),
    status: 200,
  }
  return receiver
}
