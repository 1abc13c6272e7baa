import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { PolicyUse, WrittenRequest, WrittenStep } from '@sluice/config'
import { certificateFacts } from '@sluice/core'
import type { TrialRequest } from '@sluice/gateway/trial'
import { assumedConsumer } from '../consumers/assumed-consumer.js'

/** Address of clients: of a network for documentation (RFC 5737), which no document trusts. */
const CLIENT_IP = '192.0.2.1'

/** Header fields as written. */
export type WrittenHeaders = WrittenRequest['headers']

/** Returns the request of a step. `policiesOf` returns the policies of the request's route, to find its consumer. */
export function requestOf(
  { request }: Pick<WrittenStep, 'request'>,
  defaults: WrittenHeaders,
  policiesOf: (request: TrialRequest) => readonly PolicyUse[],
): TrialRequest {
  const written = typeof request === 'string' ? parts(request) : request
  const { method = 'GET', path: url, clientIp = CLIENT_IP, consumer, clientCertificate } = written
  const { body, type } = bodyOf(written)
  const given = Object.entries({ ...lowerCase(defaults), ...lowerCase(written.headers) })
  const headers = given.flatMap(([name, value]) =>
    [value].flat().map((line) => [name, String(line)] as const),
  )
  const hasType = headers.some(([name]) => name === 'content-type')
  const fields = type === null || hasType ? headers : [...headers, ['content-type', type] as const]
  const sent = { method, url, headers: fields, body, clientIp }
  const certificate = clientCertificate && new X509Certificate(readFileSync(clientCertificate))
  const text = typeof consumer === 'string' ? consumer : JSON.stringify(consumer)
  return {
    ...sent,
    ...(consumer !== undefined && { consumer: assumedConsumer(text, policiesOf(sent)) }),
    ...(certificate instanceof X509Certificate && { clientCertificate: certificateFacts(certificate) }),
  }
}

function parts(text: string): WrittenRequest {
  const [method, path] = text.split(' ') as [string, string]
  return { method, path }
}

function bodyOf({ body, json, form }: WrittenRequest): {
  readonly body: Buffer | null
  readonly type: string | null
} {
  if (json !== undefined) return { body: Buffer.from(JSON.stringify(json)), type: 'application/json' }
  if (form !== undefined) {
    const fields = Object.entries(form).map(([name, value]): [string, string] => [name, String(value)])
    const text = new URLSearchParams(fields).toString()
    return { body: Buffer.from(text), type: 'application/x-www-form-urlencoded' }
  }
  return { body: body === undefined ? null : Buffer.from(body), type: null }
}

function lowerCase(headers: WrittenHeaders): NonNullable<WrittenHeaders> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
}
