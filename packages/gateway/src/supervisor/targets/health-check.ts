import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import type { HealthPlan, UpstreamPlan } from '@sluice/config'
import { compileRegex } from '@sluice/core'
import { readTls } from '../../compile/upstream-tls.js'
import { failureOf } from '../../data-plane/upstream/failure.js'

/** Asks a target once: null when it is healthy, else why not. Never rejects. */
export type HealthCheck = () => Promise<string | null>

/** Bytes of a body that `body` and `bodyPattern` are looked for in; the rest is not waited for. */
const MAX_BODY_BYTES = 65_536

type TestBody = (text: string) => string | null

/** The check of one target, over a new connection each time. */
export function createHealthCheck(plan: UpstreamPlan, health: HealthPlan, url: URL): HealthCheck {
  const testBody = bodyTest(health)
  return () =>
    new Promise((resolve) => {
      try {
        const request = open(plan, health, url)
        const timer = setTimeout(() => end(`no whole answer within ${health.timeoutMs} ms`), health.timeoutMs)
        const end = (problem: string | null): void => {
          clearTimeout(timer)
          resolve(problem)
          request.destroy()
        }
        request.on('error', (error) => end(failureOf(error).detail))
        request.on('response', (response) => examine(response, { health, testBody, end }))
        request.end()
      } catch {
        resolve('the check cannot be made: a file of tls, the path or a header is not usable')
      }
    })
}

function open(plan: UpstreamPlan, { path, host, headers }: HealthPlan, url: URL): http.ClientRequest {
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const options = {
    hostname,
    port: url.port,
    path,
    agent: false as const,
    headers: {
      'user-agent': 'sluice-health',
      ...Object.fromEntries(headers),
      host: host ?? url.host,
      connection: 'close',
    },
  }
  if (url.protocol === 'http:') return http.request(options)
  const { ca, cert, key, servername, minVersion, isInsecure } = readTls(plan.tls)
  return https.request({
    ...options,
    servername: servername ?? (net.isIP(hostname) === 0 ? hostname : ''),
    minVersion,
    rejectUnauthorized: !isInsecure,
    ...(ca === null ? {} : { ca }),
    ...(cert === null ? {} : { cert }),
    ...(key === null ? {} : { key }),
  })
}

/** How an answer is examined. */
interface Examination {
  readonly health: HealthPlan
  readonly testBody: TestBody
  readonly end: (problem: string | null) => void
}

function examine(response: http.IncomingMessage, { health, testBody, end }: Examination): void {
  const status = response.statusCode ?? 0
  if (!health.statuses.some(([first, last]) => status >= first && status <= last)) {
    end(`the status is ${status}`)
    return
  }
  const chunks: Buffer[] = []
  let size = 0
  const testIt = (): void => end(testBody(Buffer.concat(chunks).toString('utf8', 0, MAX_BODY_BYTES)))
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MAX_BODY_BYTES) testIt()
  })
  response.on('end', testIt)
  response.on('error', () => end('the answer was cut short'))
}

function bodyTest({ body, bodyPattern }: HealthPlan): TestBody {
  const pattern = bodyPattern === null ? null : compileRegex(bodyPattern)
  return (text) => {
    if (body !== null && !text.includes(body)) return 'the body does not hold the text of health.body'
    if (pattern === null || pattern.matcher(text).find()) return null
    return 'the body does not match health.bodyPattern'
  }
}
