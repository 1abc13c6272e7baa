import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity, scratchDir } from '@sluice/logger/testing'
import { elasticsearchSkip } from '@sluice/logger/testing/elasticsearch'
import { type SharedElasticsearch, sharedElasticsearch } from '@sluice/logger/testing/shared-elasticsearch'
import { TcpBridge } from '@sluice/logger/testing/tcp-bridge'
import { documentFor, origin, type RunningGateway, startGateway } from '../testing.js'

/** Elasticsearch with security enabled, and gateways that log to it through a TCP bridge. */
export class ElasticsearchFixture {
  #node: SharedElasticsearch | null = null
  #bridge: TcpBridge | null = null

  constructor() {
    before(async () => {
      if (elasticsearchSkip !== false) return
      this.#node = await sharedElasticsearch()
      this.#bridge = await TcpBridge.to(this.#node.port)
    })
    after(async () => {
      await this.#bridge?.cut()
      await this.#node?.release()
    })
  }

  get node(): SharedElasticsearch {
    return this.#node!
  }

  /** Breaks and refuses connections to the node while `during` runs. */
  async outage(during: () => Promise<void>): Promise<void> {
    await this.#bridge!.cut()
    try {
      await during()
    } finally {
      await this.#bridge!.mend()
    }
  }

  /** Keeps connections to the node open without responses while `during` runs. */
  async silence(during: () => Promise<void>): Promise<void> {
    this.#bridge!.pause()
    try {
      await during()
    } finally {
      this.#bridge!.resume()
    }
  }

  async countIn(stream: string): Promise<number> {
    await this.node.request('POST', `/${stream}/_refresh`)
    const { body } = await this.node.request('GET', `/${stream}/_count`)
    return (body as { count: number }).count
  }

  /** Returns a document that logs all requests to a stream. One worker halves the startup time. */
  documentTo(target: string, stream: string, changes: object = {}, workers = 1): string {
    const { username, password, caFile } = this.node
    const settings = {
      nodes: [`https://127.0.0.1:${this.#bridge!.port}`],
      dataStream: stream,
      auth: { username, password },
      tls: { caFile },
      replicas: 0,
      spool: { dir: join(scratchDir(), 'spool') },
      ...changes,
    }
    return documentFor(target)
      .replace('workers: 1', `workers: ${workers}`)
      .replace(
        'log: { sink: none }',
        `log: { sink: elasticsearch, elasticsearch: ${JSON.stringify(settings)} }`,
      )
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
