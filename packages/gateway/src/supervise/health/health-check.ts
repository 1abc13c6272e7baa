import dns from 'node:dns'
import http from 'node:http'
import http2 from 'node:http2'
import type net from 'node:net'
import type { Readable } from 'node:stream'
import type { HealthPlan, UpstreamPlan } from '@sluice/config'
import { compileRegex } from '@sluice/core'
import { hostOf, portOf, proxyOptions, readTls } from '../../upstream/transport/connect-options.js'
import { type Connector, createConnector } from '../../upstream/transport/connector.js'
import { FAILURES, failureOf } from '../../upstream/transport/failure.js'
import { Resolver } from '../../upstream/transport/resolver.js'

/** Checks a target once. Resolves with null if it is healthy, otherwise with the reason. Never rejects. */
export type HealthCheck = () => Promise<string | null>

/** Maximum number of body bytes searched for `body` and `bodyPattern`. The check does not wait for more. */
const MAX_BODY_BYTES = 65_536

const resolver = new Resolver(dns.lookup)

type TestBody = (text: string) => string | null

/** Rules for judging a response; only the first call of `end` counts. */
interface Examination {
  readonly health: HealthPlan
  readonly testBody: TestBody
  readonly end: (problem: string | null) => void
}

/** Creates the check of one target. Each check opens a new connection with the upstream's settings. */
export function createHealthCheck(plan: UpstreamPlan, health: HealthPlan, url: URL): HealthCheck {
  const testBody = bodyTest(health)
  const { timeoutMs } = health
  return () =>
    new Promise((resolve) => {
      let socket: net.Socket | null = null
      let isOver = false
      const end = (problem: string | null): void => {
        isOver = true
        clearTimeout(timer)
        resolve(problem)
        socket?.destroy()
      }
      const timer = setTimeout(() => end(`no complete response within ${timeoutMs} ms`), timeoutMs)
      const ask = (connection: net.Socket): void => {
        socket = connection
        connection.on('error', (error) => end(failureOf(error).detail))
        const isHttp2 = plan.http2.priorKnowledge || alpnOf(connection) === 'h2'
        const asked = isHttp2 ? askHttp2 : askHttp1
        asked(connection, url, { health, testBody, end })
      }
      try {
        connectorTo(plan, url)(timeoutMs, (error, connection) => {
          if (error !== null) end(failureOf(error).detail)
          else if (isOver) connection.destroy()
          else ask(connection)
        })
      } catch {
        end('the check failed: a tls file of the upstream is not usable')
      }
    })
}

function connectorTo(plan: UpstreamPlan, url: URL): Connector {
  const way = { host: hostOf(url), port: portOf(url), lookup: resolver.lookup, proxy: proxyOptions(plan) }
  if (url.protocol === 'http:') return createConnector({ ...way, tls: null })
  const { alpn, priorKnowledge } = plan.http2
  const protocols = priorKnowledge ? ['h2'] : [...(alpn ? ['h2'] : []), 'http/1.1']
  return createConnector({ ...way, tls: readTls(plan.tls), protocols })
}

function alpnOf(socket: net.Socket): unknown {
  return 'alpnProtocol' in socket ? socket.alpnProtocol : null
}

function askHttp1(socket: net.Socket, url: URL, examination: Examination): void {
  const { health, end } = examination
  const headers = { ...fieldsOf(health), host: health.host ?? url.host, connection: 'close' }
  try {
    const request = http.request({ createConnection: () => socket, path: health.path, headers })
    request.on('error', (error) => end(failureOf(error).detail))
    request.on('close', () => end(FAILURES.reset.detail))
    request.on('response', (response) => examine(response.statusCode ?? 0, response, examination))
    request.end()
  } catch {
    end(NOT_SENDABLE)
  }
}

function askHttp2(socket: net.Socket, url: URL, examination: Examination): void {
  const { health, end } = examination
  const client = http2.connect(url.origin, {
    createConnection: () => socket,
    settings: { enablePush: false },
    maxSettings: 32,
  })
  client.on('error', (error) => end(failureOf(error).detail))
  client.on('close', () => end(FAILURES.reset.detail))
  try {
    const stream = client.request({
      ...fieldsOf(health),
      ':path': health.path,
      ':authority': health.host ?? url.host,
    })
    stream.on('error', (error) => end(failureOf(error).detail))
    stream.on('response', (head) => examine(Number(head[':status']), stream, examination))
  } catch {
    end(NOT_SENDABLE)
  }
}

const NOT_SENDABLE = 'the check failed: its path or a header is invalid'

function fieldsOf({ headers }: HealthPlan): Record<string, string> {
  return { 'user-agent': 'sluice-health', ...Object.fromEntries(headers) }
}

function examine(status: number, answer: Readable & { readonly rstCode?: number }, by: Examination): void {
  const { health, testBody, end } = by
  if (!health.statuses.some(([first, last]) => status >= first && status <= last)) {
    end(`unexpected status ${status}`)
    return
  }
  const chunks: Buffer[] = []
  let size = 0
  const testIt = (): void => end(testBody(Buffer.concat(chunks).toString('utf8', 0, MAX_BODY_BYTES)))
  answer.on('data', (chunk: Buffer) => {
    if (size >= MAX_BODY_BYTES) return
    chunks.push(chunk)
    size += chunk.length
    if (size >= MAX_BODY_BYTES) testIt()
  })
  // HTTP/2 streams also end after a reset.
  answer.on('end', () => ((answer.rstCode ?? 0) === 0 ? testIt() : end('the response was truncated')))
  answer.on('error', () => end('the response was truncated'))
}

function bodyTest({ body, bodyPattern }: HealthPlan): TestBody {
  const pattern = bodyPattern === null ? null : compileRegex(bodyPattern)
  return (text) => {
    if (body !== null && !text.includes(body)) return 'the body does not contain the text of health.body'
    if (pattern === null || pattern.matcher(text).find()) return null
    return 'the body does not match health.bodyPattern'
  }
}
