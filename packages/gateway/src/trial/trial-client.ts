import http from 'node:http'
import net from 'node:net'
import type { ClientCertificate } from '@sluice/core'
import type { ExplainedRequest } from '../explain/arrival.js'
import { realTimers } from './fake-clock.js'
import { CLIENT_ADDRESS } from './trial-plan.js'

/** A request for a trial. */
export interface TrialRequest extends ExplainedRequest {
  readonly clientCertificate?: ClientCertificate | null
}

/** Response to a request. */
export interface TrialResponse {
  /** Status; 0 without a response. */
  readonly status: number
  /** Flat list of names and values. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** Reason why there is no complete response, or null. */
  readonly error: string | null
}

/** Real timeout of a request in milliseconds. */
const TIMEOUT_MS = 30_000

/** Sends a request on a new connection from the client's address. Never rejects. */
export function requestOnce(
  { method, headers, body, clientIp }: TrialRequest,
  port: number,
  { path, host }: { readonly path: string; readonly host: string },
): Promise<TrialResponse> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let head: http.IncomingMessage | null = null
    const socket = net.connect({ host: '127.0.0.1', port, localAddress: CLIENT_ADDRESS })
    const end = (error: string | null): void => {
      realTimers.clearTimeout(timer)
      socket.destroy()
      const { statusCode: status = 0, rawHeaders = [] } = head ?? {}
      resolve({ status, headers: rawHeaders, body: Buffer.concat(chunks), error })
    }
    const timer = realTimers.setTimeout(() => end(`no response within ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS)
    socket.write(proxyLine(clientIp, port))
    const fields = [...(has(headers, 'host') ? [] : [['host', host] as const]), ...headers]
    const isFramed = has(headers, 'content-length') || has(headers, 'transfer-encoding')
    if (body !== null && !isFramed) fields.push(['content-length', String(body.length)])
    try {
      const request = http.request({ method, path, createConnection: () => socket, setHost: false })
      for (const name of new Set(fields.map(([each]) => each)))
        request.setHeader(
          name,
          fields.filter(([each]) => each === name).map(([, value]) => value),
        )
      request.once('error', (error) => end(error.message))
      request.once('response', (response) => {
        head = response
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', (error) => end(error.message))
        response.once('end', () => end(null))
      })
      request.once('upgrade', (response) => {
        head = response
        end(null)
      })
      request.end(body)
    } catch (error) {
      end((error as Error).message)
    }
  })
}

function has(headers: TrialRequest['headers'], name: string): boolean {
  return headers.some(([each]) => each.toLowerCase() === name)
}

function proxyLine(clientIp: string, port: number): string {
  const [family, target] = clientIp.includes(':') ? ['TCP6', '::1'] : ['TCP4', '127.0.0.1']
  return `PROXY ${family} ${clientIp} ${target} 40000 ${port}\r\n`
}
