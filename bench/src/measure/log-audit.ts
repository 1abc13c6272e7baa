import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity, type RunningGateway } from '../contestant/gateway.js'
import { countDocuments } from '../contestant/search-engine.js'
import { type LogAccount, logMismatch } from './validity.js'
import { scrape } from './worker-diagnostics.js'

const NOTHING: LogAccount = { requests: 0, documents: 0, dropped: 0, dead: 0 }

/** Compares what a gateway answered with what Elasticsearch holds of it, span by span. */
export class LogAudit {
  readonly #gateway: RunningGateway
  readonly #node: ElasticsearchNode
  readonly #dataStream: string
  #last = NOTHING

  constructor(gateway: RunningGateway, node: ElasticsearchNode, dataStream: string) {
    this.#gateway = gateway
    this.#node = node
    this.#dataStream = dataStream
  }

  /** What does not add up since the last call; null when all does. */
  async mismatch(): Promise<string | null> {
    try {
      await this.#gateway.settled()
      const now = await this.#account()
      const before = this.#last
      this.#last = now
      return logMismatch({
        requests: now.requests - before.requests,
        documents: now.documents - before.documents,
        dropped: now.dropped - before.dropped,
        dead: now.dead - before.dead,
      })
    } catch (error) {
      return `the traffic log cannot be checked: ${(error as Error).message}`
    }
  }

  async #account(): Promise<LogAccount> {
    const { admin } = this.#gateway
    let requests = 0
    for (const [name, value] of await scrape(admin))
      if (name.startsWith('gw_requests_total{')) requests += value
    const { dropped, dead } = await logIdentity(admin)
    const documents = await countDocuments(this.#node, this.#dataStream)
    return { requests, documents, dropped, dead }
  }
}
