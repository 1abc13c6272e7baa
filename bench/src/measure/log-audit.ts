import { setTimeout as sleep } from 'node:timers/promises'
import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity, type RunningGateway, scrape } from '../servers/gateway.js'

/** What a traffic log must add up to: every request that the gateway counted is a document, or counted as dropped. */
interface LogAccount {
  readonly requests: number
  readonly documents: number
  readonly dropped: number
  readonly dead: number
}

/** Counts arrive with heartbeats and answers of Elasticsearch; what does not add up for this long never will. */
const PATIENCE_MS = 10_000
const LOOK_MS = 250

/** Compares what a gateway answered with what Elasticsearch holds of it, span by span. */
export class LogAudit {
  readonly #gateway: RunningGateway
  readonly #node: ElasticsearchNode
  readonly #dataStream: string
  #last: LogAccount = { requests: 0, documents: 0, dropped: 0, dead: 0 }

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
      for (;;) {
        const now = await this.#account()
        const problem = logMismatch(this.#last, now, answered)
        if (problem === null || performance.now() > giveUpMono) {
          this.#last = now
          return problem
        }
        await sleep(LOOK_MS)
      }
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
    await this.#node.request('POST', `/${this.#dataStream}/_refresh`)
    const { body } = await this.#node.request('GET', `/${this.#dataStream}/_count`)
    return { requests, documents: (body as { readonly count?: number } | null)?.count ?? 0, dropped, dead }
  }
}

/** What is wrong with a log between two looks, when clients had at least so many answers; null when it adds up. */
export function logMismatch(before: LogAccount, after: LogAccount, answered: number): string | null {
  const requests = after.requests - before.requests
  const documents = after.documents - before.documents
  const [dropped, dead] = [after.dropped - before.dropped, after.dead - before.dead]
  if (requests < answered) return `the gateway counted ${requests} requests, clients had ${answered} answers`
  if (documents === requests - dropped - dead) return null
  return `Elasticsearch holds ${documents} documents of ${requests} requests, ${dropped} of them dropped and ${dead} refused`
}
