import { answerText } from '../http/answer.js'
import { OtlpClient } from './client.js'
import { metricRequests, type OtlpMetric, type OtlpPeriod } from './metrics.js'
import type { OtlpOptions } from './options.js'
import { environmentAttributes, resourceOf } from './resource.js'

/** Result of an export. */
export type ExportResult =
  | { readonly kind: 'delivered' }
  /** The collector rejected some points, or gave a warning if `count` is 0. */
  | { readonly kind: 'rejected'; readonly count: number; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: string }

/** Process that the metrics belong to. */
export interface MetricsSource {
  readonly host: string
  readonly version: string
  /** `environment` of the document, or null. */
  readonly environment: string | null
}

const SUBJECT = { subject: 'the collector', credentials: 'metrics.otlp.headers' }

/** Exporter of metrics to an OpenTelemetry collector. Keeps nothing: the next export contains all counts so far. */
export class OtlpMetricsExporter {
  readonly #client: OtlpClient
  readonly #resource: Readonly<Record<string, string>>

  /** @throws Error if the URL is invalid. */
  constructor(options: OtlpOptions, { host, version, environment }: MetricsSource) {
    this.#client = new OtlpClient(options, '/v1/metrics')
    const gw = { pod: host, version }
    this.#resource = resourceOf({ gw, env: environment }, environmentAttributes(process.env))
  }

  /** Sends all metrics. Stops at the first request that fails. */
  async send(metrics: readonly OtlpMetric[], period: OtlpPeriod): Promise<ExportResult> {
    let count = 0
    let message = ''
    try {
      for (const request of metricRequests(metrics, this.#resource, period)) {
        const answer = await this.#client.post(request)
        if (answer.status < 200 || answer.status >= 300)
          return { kind: 'failed', reason: answerText(answer, SUBJECT) }
        count += answer.partial?.rejected ?? 0
        if (answer.partial !== null) message = answer.partial.message
      }
    } catch (error) {
      return { kind: 'failed', reason: `the collector does not respond: ${(error as Error).message}` }
    }
    return count === 0 && message === '' ? { kind: 'delivered' } : { kind: 'rejected', count, message }
  }

  close(): void {
    this.#client.close()
  }
}
