import type { Client } from '@elastic/elasticsearch'
import { type DiagnosticResult, Serializer } from '@elastic/transport'
import { ANSWER_BOUNDS, type ElasticsearchAccess, elasticsearchClient } from '../../elasticsearch/client.js'
import { reasonOf, statusOf } from '../../elasticsearch/cluster-error.js'
import { conflictText, setUp } from '../../elasticsearch/setup.js'
import type { DataStreamOptions } from '../../elasticsearch/setup-steps.js'
import type { Delivery, LogOutput, ReportProblem, Shipment } from '../output.js'
import { type BulkAnswer, bulkDelivery, failedDelivery, ITEM_FILTER, isBulkText } from './bulk-answer.js'
import { type AskedStream, withoutWritten } from './written.js'

/** Options for shipping to a data stream of an Elasticsearch cluster. */
export interface ElasticsearchOptions extends ElasticsearchAccess, DataStreamOptions {
  /**
   * True if the gateway creates the index template, the lifecycle and the data stream before the first
   * record.
   */
  readonly manage: boolean
}

/** Output to a data stream of Elasticsearch 8 or 9, or OpenSearch 2, written with the bulk API. */
export class ElasticsearchOutput implements LogOutput {
  readonly #options: ElasticsearchOptions
  readonly #client: Client
  readonly #report: ReportProblem
  readonly #ending: AbortController = new AbortController()
  #setup: Promise<void> | null = null

  /** @throws Error if the CA file cannot be read. */
  constructor(options: ElasticsearchOptions, report: ReportProblem) {
    this.#options = options
    this.#client = elasticsearchClient(options, { Serializer: BulkTextSerializer })
    this.#report = report
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    try {
      await this.#setUpOnce()
    } catch (error) {
      return {
        kind: 'failed',
        overload: false,
        reason: `cannot set up the data stream: ${reasonOf(error)}`,
      }
    }
    try {
      return await this.#send(shipment)
    } catch (error) {
      return failedDelivery(error)
    }
  }

  /** Sends a bulk request. The response contains every record; a written one takes 26 bytes. */
  async #send(shipment: Shipment): Promise<Delivery> {
    const { body: answer, meta } = await this.#bulk(shipment.bulkBody)
    const delivery = bulkDelivery(answer ?? '', shipment.count)
    // The client retries on another node if a connection breaks.
    const isFirst = !shipment.mayBeDelivered && meta.attempts === 0
    if (delivery.kind !== 'answered' || isFirst) return delivery
    return withoutWritten(this.#asked, shipment, delivery)
  }

  get #asked(): AskedStream {
    const { dataStream } = this.#options
    return { client: this.#client, dataStream, signal: this.#ending.signal, report: this.#report }
  }

  #bulk(body: Buffer): Promise<DiagnosticResult<BulkAnswer | string>> {
    return this.#client.transport.request<BulkAnswer | string>(
      {
        method: 'POST',
        path: `/${encodeURIComponent(this.#options.dataStream)}/_bulk`,
        bulkBody: body as never,
        querystring: { filter_path: ITEM_FILTER },
      },
      {
        meta: true,
        signal: this.#ending.signal,
        ...ANSWER_BOUNDS,
        // Redacting an error copies the request byte by byte, a gigabyte for a megabyte. Only the error text
        // is kept anyway.
        redaction: { type: 'off' },
      },
    )
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#client.close()
  }

  /**
   * Sets up the data stream. Retries on the next call if it fails. If the credentials only allow writing,
   * assumes that the data stream already exists.
   */
  #setUpOnce(): Promise<void> {
    if (!this.#options.manage) return Promise.resolve()
    this.#setup ??= setUp(this.#client, this.#options).then(
      (outcomes) => {
        const conflict = outcomes.find(({ outcome }) => outcome === 'conflict')
        if (conflict !== undefined) this.#report(conflictText(conflict, this.#options.dataStream))
      },
      (error: unknown) => {
        if (statusOf(error) === 403) {
          this.#report(
            `cannot set up the data stream: ${reasonOf(error)}; run 'gw log-setup' with other credentials`,
          )
          return
        }
        this.#setup = null
        throw error
      },
    )
    return this.#setup
  }
}

/** Serializer that leaves bulk responses as text. */
class BulkTextSerializer extends Serializer {
  override deserialize<T = unknown>(json: string): T {
    return isBulkText(json) ? (json as T) : super.deserialize<T>(json)
  }
}
