import { setTimeout as sleep } from 'node:timers/promises'
import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity, type RunningGateway, scrape } from '../servers/gateway.js'

/** Counts of a traffic log. Every request must be a document or counted as dropped. */
interface LogAccount {
  readonly requests: number
  readonly documents: number
  readonly dropped: number
  readonly dead: number
}

/** Time limit in milliseconds. Counts arrive with heartbeats and responses of Elasticsearch. */
const PATIENCE_MS = 10_000
const LOOK_MS = 250

/** Compares the responses of a gateway with the documents in Elasticsearch. */
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

  /** Returns the mismatch since the last call, or null. Clients had at least `answered` responses. */
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

/** Returns the mismatch between two counts, or null. Clients had at least the given number of responses. */
export function logMismatch(before: LogAccount, after: LogAccount, answered: number): string | null {
  const requests = after.requests - before.requests
  const documents = after.documents - before.documents
  const [dropped, dead] = [after.dropped - before.dropped, after.dead - before.dead]
  if (requests < answered) return `the gateway counted ${requests} requests, clients had ${answered} answers`
  if (documents === requests - dropped - dead) return null
  return `Elasticsearch holds ${documents} documents of ${requests} requests, ${dropped} of them dropped and ${dead} refused`
}
