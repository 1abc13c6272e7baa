import { createHash, createHmac } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Delivery, LogOutput, Shipment } from '../output.js'
import { webhookDelivery } from './answer.js'
import type { WebhookOptions } from './options.js'
import { WebhookRequests } from './requests.js'

const compressed = promisify(gzip)

/** Output that sends each shipment to an HTTP receiver in one POST request. */
export class WebhookOutput implements LogOutput {
  readonly #options: WebhookOptions
  readonly #requests: WebhookRequests

  constructor(options: WebhookOptions) {
    this.#options = options
    this.#requests = new WebhookRequests(options)
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    const { format, compress } = this.#options
    try {
      const plain = webhookBody(shipment, format)
      const body = compress ? await compressed(plain) : plain
      const answer = await this.#requests.post(body, this.#headersFor(shipment, body))
      return webhookDelivery(answer, shipment)
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      // The receiver may have cut the connection because the body is too large.
      const overload = code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT'
      return { kind: 'failed', overload, reason: `the webhook does not respond: ${message}` }
    }
  }

  async close(): Promise<void> {
    this.#requests.close()
  }

  #headersFor(shipment: Shipment, body: Buffer): Record<string, string | number> {
    const { headers, auth, format, compress, signature } = this.#options
    return {
      'user-agent': 'sluice',
      ...lowerCased(headers),
      ...(auth === null ? {} : { authorization: authorizationOf(auth) }),
      'content-type': format === 'array' ? 'application/json' : 'application/x-ndjson',
      'content-length': body.length,
      'idempotency-key': idempotencyKey(shipment),
      ...(compress ? { 'content-encoding': 'gzip' } : {}),
      ...(signature === null
        ? {}
        : { [signature.header.toLowerCase()]: signatureOf(body, signature.secret) }),
    }
  }
}

/** Returns the same key for every attempt with the same records, so that a receiver can detect duplicates. */
function idempotencyKey(shipment: Shipment): string {
  const span = `${shipment.idOf(0)} ${shipment.idOf(shipment.count - 1)}`
  return createHash('sha256').update(span).digest('hex').slice(0, 32)
}

function signatureOf(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

function authorizationOf(auth: NonNullable<WebhookOptions['auth']>): string {
  if ('token' in auth) return `Bearer ${auth.token}`
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

const NEWLINE = Buffer.from('\n')
const OPEN = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from(']')

/** Formats the records of a shipment as one request body. */
export function webhookBody(shipment: Shipment, format: 'ndjson' | 'array'): Buffer {
  const parts: Buffer[] = format === 'array' ? [OPEN] : []
  for (let i = 0; i < shipment.count; i++) {
    if (format === 'array' && i > 0) parts.push(COMMA)
    parts.push(shipment.jsonOf(i))
    if (format === 'ndjson') parts.push(NEWLINE)
  }
  if (format === 'array') parts.push(CLOSE)
  return Buffer.concat(parts)
}
