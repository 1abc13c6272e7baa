import { createHash, createHmac } from 'node:crypto'
import { httpDelivery, type TargetNames, unansweredDelivery } from '../http/answer.js'
import { HttpRequests } from '../http/requests.js'
import type { Delivery, LogOutput, Shipment } from '../output.js'
import type { WebhookOptions } from './options.js'

const NAMES: TargetNames = { subject: 'the webhook', credentials: 'log.webhook.auth' }

/** Output that sends each shipment to an HTTP receiver in one POST request. */
export class WebhookOutput implements LogOutput {
  readonly #options: WebhookOptions
  readonly #requests: HttpRequests

  constructor(options: WebhookOptions) {
    const { headers, signature } = options
    this.#options = options
    this.#requests = new HttpRequests(options, [
      ...Object.values(headers),
      ...(signature === null ? [] : [signature.secret]),
    ])
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    try {
      const body = await this.#requests.encode(webhookBody(shipment, this.#options.format))
      const answer = await this.#requests.post(body, this.#headersFor(shipment, body))
      return httpDelivery(answer, shipment, NAMES)
    } catch (error) {
      return unansweredDelivery(error, NAMES)
    }
  }

  async close(): Promise<void> {
    this.#requests.close()
  }

  #headersFor(shipment: Shipment, body: Buffer): Record<string, string> {
    const { headers, format, signature } = this.#options
    return {
      ...lowerCased(headers),
      'content-type': format === 'array' ? 'application/json' : 'application/x-ndjson',
      'idempotency-key': idempotencyKey(shipment),
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
