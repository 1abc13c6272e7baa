import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'

/** A request to the receiver. */
export interface ReceivedExport {
  readonly headers: IncomingHttpHeaders
  readonly path: string
  readonly body: Buffer
}

/** A receiver of OTLP requests. It answers with `status`, or not at all with 0. */
export interface TraceReceiver {
  readonly url: string
  readonly exports: readonly ReceivedExport[]
  /** Returns true if a request contains the text, such as the name of a span. */
  has(text: string): boolean
  status: number
}

/** Starts a receiver of OTLP requests. It is closed after the test. @param isSecure True for `https`, with FAKE_CERTIFICATES. */
export async function traceReceiver(t: TestContext, isSecure = false): Promise<TraceReceiver> {
  const exports: ReceivedExport[] = []
  const onRequest: RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { headers, url = '' } = request
    const bytes = Buffer.concat(chunks)
    exports.push({
      headers,
      path: url,
      body: headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes,
    })
    if (receiver.status !== 0) response.writeHead(receiver.status).end()
  }
  const server = isSecure
    ? createSecureServer(FAKE_CERTIFICATES.localhost, onRequest)
    : createServer(onRequest)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const receiver: TraceReceiver = {
    url: `${isSecure ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exports,
    has: (text) => exports.some(({ body }) => body.includes(text)),
    status: 200,
  }
  return receiver
}
