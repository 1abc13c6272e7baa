import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity, scratchDir } from '@sluice/logger/testing'
import { elasticsearchSkip } from '@sluice/logger/testing/elasticsearch'
import { type SharedElasticsearch, sharedElasticsearch } from '@sluice/logger/testing/shared-elasticsearch'
import { documentFor, origin, type RunningGateway, startGateway } from '../testing.js'

/** Elasticsearch with security enabled, and gateways that log to it. */
export class ElasticsearchFixture {
  #node: SharedElasticsearch | null = null

  constructor() {
    before(async () => {
      if (elasticsearchSkip !== false) return
      this.#node = await sharedElasticsearch()
    })
    after(async () => {
      await this.#node?.release()
    })
  }

  get node(): SharedElasticsearch {
    return this.#node!
  }

  async countIn(stream: string): Promise<number> {
    await this.node.request('POST', `/${stream}/_refresh`)
    const { body } = await this.node.request('GET', `/${stream}/_count`)
    return (body as { count: number }).count
  }

  /** Returns a document that logs all requests to a stream. */
  documentTo(target: string, stream: string, changes: object = {}): string {
    const { url, username, password, caFile } = this.node
    const settings = {
      nodes: [url],
      dataStream: stream,
      auth: { username, password },
      tls: { caFile },
      replicas: 0,
      spool: { dir: join(scratchDir(), 'spool') },
      ...changes,
    }
    const log = `log: { sink: elasticsearch, elasticsearch: ${JSON.stringify(settings)} }`
    return documentFor(target).replace('log: { sink: none }', log)
  }

  /** Starts an origin and a gateway that logs to a stream. */
  async started(t: TestContext, stream: string, changes: object = {}): Promise<RunningGateway> {
    const target = await origin(t, (_, res) => res.end('ok'))
    return startGateway(t, this.documentTo(target, stream, changes))
  }
}

/** Returns the record counts of a gateway and asserts that they add up. */
export async function identityOf(admin: string): Promise<LogIdentity> {
  const identity = (await (await fetch(`${admin}/v1/log`)).json()) as LogIdentity
  assertIdentity(identity)
  return identity
}

/** Sends `times` requests to a gateway, one after the other. */
export async function call(gateway: RunningGateway, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await (await fetch(`${gateway.url}/a/${i}`)).text()
}

/** Returns a check for `until`: true if there are `received` records and all are indexed. */
export function isSettledAt(gateway: RunningGateway, received: number): () => Promise<boolean> {
  return async () => {
    const identity = await identityOf(gateway.admin)
    return identity.received === received && identity.indexed === received
  }
}
