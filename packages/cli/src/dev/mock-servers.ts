import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { canonicalPath } from '@sluice/core'
import { MessageMask } from '@sluice/logger'
import type { ApiDescription } from '@sluice/policies'
import { exampleResponse } from './api-examples.js'

/** An API that a mock serves. */
export interface MockedApi {
  readonly description: ApiDescription
  /** Prefix of the described paths in requests. */
  readonly basePath: string
}

/** Replaces the secrets of the document in a text. */
export type Conceal = (text: string) => string

interface MockServer {
  readonly server: Server
  readonly url: string
  apis: readonly MockedApi[]
}

/** Maximum number of body bytes that an echo contains. */
const MAX_ECHO_BYTES = 64 * 1024
/** Status that a client asks for with `Prefer: code=404` (as in Prism). */
const WANTED = /(?:^|[,;\s])code=(\d{3})/

const MASK = new MessageMask([], null)

/** Mock upstreams. Each is a server on its own port, so that the port identifies the upstream. */
export class MockServers {
  readonly #servers = new Map<string, MockServer>()
  /** Conceals secrets in echoes. Policies may add credentials to requests, and not every client may know them. */
  conceal: Conceal = (text) => text

  /** Returns the URL of the mock of an upstream, and starts it if necessary. */
  async urlOf(upstream: string, apis: readonly MockedApi[]): Promise<string> {
    const running = this.#servers.get(upstream) ?? (await this.#start(upstream))
    running.apis = apis
    return running.url
  }

  async #start(upstream: string): Promise<MockServer> {
    const server = createServer((req, res) => {
      void bodyOf(req).then((body) => answer(req, res, { body, apis: mock.apis, conceal: this.conceal }))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    const mock: MockServer = { server, url: `http://127.0.0.1:${port}`, apis: [] }
    this.#servers.set(upstream, mock)
    return mock
  }

  close(): void {
    for (const { server } of this.#servers.values()) {
      server.close()
      server.closeAllConnections()
    }
  }
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      if (bytes < MAX_ECHO_BYTES) chunks.push(chunk.subarray(0, MAX_ECHO_BYTES - bytes))
      bytes += chunk.length
    }
  } catch {
    // The gateway has closed the connection.
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface MockedRequest {
  readonly body: string
  readonly apis: readonly MockedApi[]
  readonly conceal: Conceal
}

function answer(req: IncomingMessage, res: ServerResponse, { body, apis, conceal }: MockedRequest): void {
  const { method = 'GET', url = '/', headers } = req
  const path = canonicalPath(url.split('?')[0] ?? '/') ?? '/'
  const wanted = WANTED.exec(String(headers['prefer'] ?? ''))?.[1]
  const example = exampleFrom(apis, method, path, wanted)
  if (example === null) {
    const seen = { method, url: conceal(maskedUrl(url)), headers: maskedHeaders(headers, conceal) }
    const echo = JSON.stringify({ mock: 'echo', ...seen, body: conceal(body) }, null, 2)
    res.writeHead(200, { 'content-type': 'application/json', 'x-gw-mock': 'echo' })
    res.end(`${echo}\n`)
    return
  }
  for (const [name, value] of Object.entries(example.headers)) trySetHeader(res, name, value)
  if (example.body !== null) res.setHeader('content-type', example.body.mediaType)
  res.setHeader('x-gw-mock', 'openapi')
  res.writeHead(example.status)
  res.end(example.body?.text)
}

/** Masks credentials in the query, as the traffic log does. */
function maskedUrl(url: string): string {
  const [path = '', ...query] = url.split('?')
  return query.length === 0 ? url : `${path}?${MASK.query(query.join('?'))}`
}

/** Masks credentials by the name of their field, and the secrets of the document. */
function maskedHeaders(headers: IncomingMessage['headers'], conceal: Conceal): Record<string, string> {
  const fields = Object.entries(headers).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '')
    return [name, conceal(MASK.header(name, text))] as const
  })
  return Object.fromEntries(fields)
}

/** Returns the example of the first API that describes a request. Some routes remove the prefix of the API. */
function exampleFrom(
  apis: readonly MockedApi[],
  method: string,
  path: string,
  wanted: string | undefined,
): ReturnType<typeof exampleResponse> {
  for (const { description, basePath } of apis) {
    const operation = description.find(method, path, basePath) ?? description.find(method, path)
    if (operation === null) continue
    const example = exampleResponse(description, operation, wanted)
    if (example !== null) return example
  }
  return null
}

/** Sets a header of an example, unless the description has an invalid one. */
function trySetHeader(res: ServerResponse, name: string, value: string): void {
  try {
    res.setHeader(name, value)
  } catch {
    // The rest of the example is still useful.
  }
}
