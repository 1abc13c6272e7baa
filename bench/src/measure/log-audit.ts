import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity, type RunningGateway } from '../contestant/gateway.js'
import { countDocuments } from '../contestant/search-engine.js'
import { type LogAccount, logMismatch } from './validity.js'
import { scrape } from './worker-diagnostics.js'

const NOTHING: LogAccount = { requests: 0, documents: 0, dropped: 0, dead: 0 }
/** Counts arrive with heartbeats and answers of Elasticsearch; what does not add up for this long never will. */
const PATIENCE_MS = 10_000
const LOOK_MS = 250

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

  /** What does not add up since the last call, in which clients had at least so many answers; null when all does. */
  async mismatch(answered = 0): Promise<string | null> {
    try {
      await this.#gateway.settled()
      const giveUpMono = performance.now() + PATIENCE_MS
      let now = await this.#account()
      let problem = this.#problem(now, answered)
      while (problem !== null && performance.now() < giveUpMono) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
        now = await this.#account()
        problem = this.#problem(now, answered)
      }
      this.#last = now
      return problem
    } catch (error) {
      return `the traffic log cannot be checked: ${(error as Error).message}`
    }
  }

  #problem(now: LogAccount, answered: number): string | null {
    const span: LogAccount = {
      requests: now.requests - this.#last.requests,
      documents: now.documents - this.#last.documents,
      dropped: now.dropped - this.#last.dropped,
      dead: now.dead - this.#last.dead,
    }
    return logMismatch(span, answered)
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
