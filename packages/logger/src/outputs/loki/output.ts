import { yieldCpu } from '../../lib/yield.js'
import { answerText, httpDelivery, type TargetNames, unansweredDelivery } from '../http/answer.js'
import { HttpRequests, withPath } from '../http/requests.js'
import type { Delivery, LogOutput, Shipment } from '../output.js'
import type { LokiOptions } from './options.js'
import { pushBody } from './push-body.js'

const NAMES: TargetNames = { subject: 'Loki', credentials: 'log.loki.auth' }
const PUSH_PATH = '/loki/api/v1/push'

/** Output that sends each shipment to the push API of Grafana Loki. */
export class LokiOutput implements LogOutput {
  readonly #options: LokiOptions
  readonly #requests: HttpRequests
  readonly #headers: Readonly<Record<string, string>>
  readonly #ending = new AbortController()
  readonly #yield = (): Promise<void> => yieldCpu(this.#ending.signal)

  constructor(options: LokiOptions) {
    const { tenant } = options
    this.#options = options
    this.#requests = new HttpRequests({ ...options, url: withPath(options.url, PUSH_PATH) })
    this.#headers = {
      'content-type': 'application/json',
      ...(tenant === null ? {} : { 'x-scope-orgid': tenant }),
    }
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    try {
      const body = await this.#requests.encode(await pushBody(shipment, this.#options, this.#yield))
      const answer = await this.#requests.post(body, this.#headers)
      const reason = answerText(answer, NAMES)
      // Loki stores the valid entries of such a request, and ignores them when they are sent again.
      if (answer.status === 400) return { kind: 'unfit', status: 400, reason }
      // Any other success comes from a proxy, or says that Loki blocks the tenant and stores nothing (260).
      if (answer.status >= 200 && answer.status < 300 && answer.status !== 204)
        return { kind: 'failed', overload: false, reason: `${reason}, not with 204; check log.loki.url` }
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
