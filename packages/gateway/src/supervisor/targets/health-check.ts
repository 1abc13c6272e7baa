import dns from 'node:dns'
import http from 'node:http'
import http2 from 'node:http2'
import type net from 'node:net'
import type { Readable } from 'node:stream'
import type { HealthPlan, UpstreamPlan } from '@sluice/config'
import { compileRegex } from '@sluice/core'
import { hostOf, portOf, proxyOptions } from '../../compile/targets.js'
import { readTls } from '../../compile/upstream-tls.js'
import { type Connector, createConnector } from '../../data-plane/upstream/connector.js'
import { FAILURES, failureOf } from '../../data-plane/upstream/failure.js'
import { Resolver } from '../../data-plane/upstream/resolver.js'

/** Asks a target once: null when it is healthy, else why not. Never rejects. */
export type HealthCheck = () => Promise<string | null>

/** Bytes of a body that `body` and `bodyPattern` are looked for in; the rest is not waited for. */
const MAX_BODY_BYTES = 65_536

const resolver = new Resolver(dns.lookup)

type TestBody = (text: string) => string | null

/** How an answer is examined; `end` is heard once. */
interface Examination {
  readonly health: HealthPlan
  readonly testBody: TestBody
  readonly end: (problem: string | null) => void
}

/** The check of one target, over a new connection each time that is made as those of the upstream are. */
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
      const timer = setTimeout(() => end(`no whole answer within ${timeoutMs} ms`), timeoutMs)
      const ask = (connection: net.Socket): void => {
        socket = connection
        connection.on('error', (error) => end(failureOf(error).detail))
        const isHttp2 = plan.http2 === 'prior-knowledge' || alpnOf(connection) === 'h2'
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
        end('the check cannot be made: a file of tls is not usable')
      }
    })
}

function connectorTo(plan: UpstreamPlan, url: URL): Connector {
  const way = { host: hostOf(url), port: portOf(url), lookup: resolver.lookup, proxy: proxyOptions(plan) }
  if (url.protocol === 'http:') return createConnector({ ...way, tls: null })
  const protocols = { off: ['http/1.1'], auto: ['h2', 'http/1.1'], 'prior-knowledge': ['h2'] }[plan.http2]
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

const NOT_SENDABLE = 'the check cannot be made: the path or a header is not usable'

function fieldsOf({ headers }: HealthPlan): Record<string, string> {
  return { 'user-agent': 'sluice-health', ...Object.fromEntries(headers) }
}

function examine(status: number, answer: Readable & { readonly rstCode?: number }, by: Examination): void {
  const { health, testBody, end } = by
  if (!health.statuses.some(([first, last]) => status >= first && status <= last)) {
    end(`the status is ${status}`)
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
  // A reset ends a stream of HTTP/2 too.
  answer.on('end', () => ((answer.rstCode ?? 0) === 0 ? testIt() : end('the answer was cut short')))
  answer.on('error', () => end('the answer was cut short'))
}

function bodyTest({ body, bodyPattern }: HealthPlan): TestBody {
  const pattern = bodyPattern === null ? null : compileRegex(bodyPattern)
  return (text) => {
    if (body !== null && !text.includes(body)) return 'the body does not hold the text of health.body'
    if (pattern === null || pattern.matcher(text).find()) return null
    return 'the body does not match health.bodyPattern'
  }
}
