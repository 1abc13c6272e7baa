import { yieldCpu } from '../../lib/yield.js'
import { httpDelivery, type TargetNames, unansweredDelivery } from '../http/answer.js'
import { HttpRequests, withPath } from '../http/requests.js'
import type { Delivery, LogOutput, Shipment } from '../output.js'
import { exportRequest } from './export-request.js'
import type { OtlpOptions } from './options.js'
import { environmentAttributes } from './resource.js'

const NAMES: TargetNames = { subject: 'the collector', credentials: 'tracing.exporter.headers' }
const TRACES_PATH = '/v1/traces'

/** Output that sends the spans of each shipment to an OpenTelemetry collector (OTLP/HTTP with protobuf). */
export class OtlpOutput implements LogOutput {
  readonly #requests: HttpRequests
  readonly #headers: Readonly<Record<string, string>>
  readonly #environment = environmentAttributes(process.env)
  readonly #ending = new AbortController()
  readonly #yield = (): Promise<void> => yieldCpu(this.#ending.signal)

  constructor({ headers, ...options }: OtlpOptions) {
    const url = withPath(options.url, TRACES_PATH)
    this.#requests = new HttpRequests({ ...options, url, auth: null }, Object.values(headers))
    this.#headers = { ...headers, 'content-type': 'application/x-protobuf' }
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    try {
      const request = await exportRequest(shipment, this.#environment, this.#yield)
      const answer = await this.#requests.post(await this.#requests.encode(request), this.#headers)
      return httpDelivery(answer, shipment, NAMES)
    } catch (error) {
      return unansweredDelivery(error, NAMES)
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#requests.close()
  }
}
