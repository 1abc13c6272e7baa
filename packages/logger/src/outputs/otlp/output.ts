import { yieldCpu } from '../../lib/yield.js'
import { httpDelivery, type TargetNames, unansweredDelivery } from '../http/answer.js'
import type { Delivery, LogOutput, Refusal, ReportProblem, Shipment } from '../output.js'
import { OtlpClient } from './client.js'
import { exportRequest, type WriteItems } from './export-request.js'
import { writeLogRecord } from './log-records.js'
import type { OtlpOutputOptions } from './options.js'
import type { PartialSuccess } from './partial-success.js'
import { environmentAttributes } from './resource.js'
import { writeSpans } from './spans.js'

/** A signal of OpenTelemetry that records are sent as. */
interface Signal {
  readonly path: string
  /** Noun in messages. */
  readonly items: string
  readonly credentials: string
  readonly write: WriteItems
}

const SIGNALS: Readonly<Record<OtlpOutputOptions['signal'], Signal>> = {
  traces: {
    ...{ path: '/v1/traces', items: 'spans', credentials: 'tracing.exporter.headers' },
    write: writeSpans,
  },
  logs: {
    ...{ path: '/v1/logs', items: 'log records', credentials: 'log.otlp.headers' },
    write: writeLogRecord,
  },
}

/** Minimum time between two reports of partially rejected requests, in milliseconds. */
const REPORT_MS = 60_000

/** Output that sends each shipment to an OpenTelemetry collector, as spans or as log records. */
export class OtlpOutput implements LogOutput {
  readonly #client: OtlpClient
  readonly #signal: Signal
  readonly #names: TargetNames
  readonly #report: ReportProblem
  readonly #environment = environmentAttributes(process.env)
  readonly #ending = new AbortController()
  readonly #yield = (): Promise<void> => yieldCpu(this.#ending.signal)
  #reportDueMono = 0

  constructor({ signal, ...options }: OtlpOutputOptions, report: ReportProblem) {
    this.#signal = SIGNALS[signal]
    this.#names = { subject: 'the collector', credentials: this.#signal.credentials }
    this.#client = new OtlpClient(options, this.#signal.path)
    this.#report = report
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    try {
      const request = await exportRequest(shipment, {
        environment: this.#environment,
        write: this.#signal.write,
        yieldCpu: this.#yield,
      })
      const answer = await this.#client.post(request.message)
      if (answer.partial === null) return httpDelivery(answer, shipment, this.#names)
      return { kind: 'answered', refused: this.#refused(answer.partial, request.items), again: [] }
    } catch (error) {
      return unansweredDelivery(error, this.#names)
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#client.close()
  }

  /**
   * Returns as many records as contain the number of rejected items. A collector does not tell which ones it rejected, and
   * they must not be sent again (OTLP, "Partial Success"). So the last ones count as refused.
   */
  #refused({ rejected, message }: PartialSuccess, items: readonly number[]): Refusal[] {
    const total = items.reduce((sum, count) => sum + count, 0)
    const noun = this.#signal.items
    const reason = `the collector rejected ${rejected} of ${total} ${noun} of a request, without saying which: ${message}`
    const isDue = performance.now() >= this.#reportDueMono
    if (isDue) this.#reportDueMono = performance.now() + REPORT_MS
    if (isDue) this.#report(rejected === 0 ? `the collector warns: ${message}` : reason)
    const refused: Refusal[] = []
    let left = rejected
    for (let index = items.length - 1; index >= 0 && left > 0; index--) {
      if (items[index] === 0) continue
      left -= items[index]!
      refused.unshift({ index, status: 200, type: 'partial_success', reason })
    }
    return refused
  }
}
