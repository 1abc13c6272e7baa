import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity, scratchDir } from '@sluice/logger/testing'
import { elasticsearchSkip } from '@sluice/logger/testing/elasticsearch'
import { type SharedElasticsearch, sharedElasticsearch } from '@sluice/logger/testing/shared-elasticsearch'
import { TcpBridge } from '@sluice/logger/testing/tcp-bridge'
import { documentFor, origin, type RunningGateway, startGateway } from '../testing.js'

/** An Elasticsearch with security on, and gateways that log to it over a way of this file's own. */
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

  /** Connections to the node break and are refused, until what happens meanwhile is over. */
  async outage(during: () => Promise<void>): Promise<void> {
    await this.#bridge!.cut()
    try {
      await during()
    } finally {
      await this.#bridge!.mend()
    }
  }

  /** Connections to the node stay open and nobody answers, until what happens meanwhile is over. */
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

  /** A document that logs all calls to a stream. A gateway of one worker starts in half of the time. */
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
      .replace('workers: 2', `workers: ${workers}`)
      .replace(
        'log: { sink: none }',
        `log: { sink: elasticsearch, elasticsearch: ${JSON.stringify(settings)} }`,
      )
  }

  /** A gateway that logs to a stream, in front of an origin. */
  async started(t: TestContext, stream: string, changes: object = {}): Promise<RunningGateway> {
    const target = await origin(t, (_, res) => res.end('ok'))
    return startGateway(t, this.documentTo(target, stream, changes))
  }
}

/** Where the records of a gateway are; fails unless each is in one of them. */
export async function identityOf(admin: string): Promise<LogIdentity> {
  const identity = (await (await fetch(`${admin}/v1/log`)).json()) as LogIdentity
  assertIdentity(identity)
  return identity
}

/** Calls a gateway so often, one call after the other. */
export async function call(gateway: RunningGateway, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await (await fetch(`${gateway.url}/a/${i}`)).text()
}

/** Whether so many records were made, and all are delivered. */
export function isSettledAt(gateway: RunningGateway, received: number): () => Promise<boolean> {
  return async () => {
    const identity = await identityOf(gateway.admin)
    return identity.received === received && identity.indexed === received
  }
}
