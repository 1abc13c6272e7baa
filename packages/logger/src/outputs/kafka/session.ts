import { type MessageRecord, metadataV9, produceV8, ResponseError } from '@platformatic/kafka'
import { type BrokerConnection, call, connectTo } from './connection.js'
import { KafkaFault, reasonOf } from './fault.js'
import type { KafkaOptions } from './options.js'

/** Time in milliseconds after which metadata is read again, as in other Kafka clients. */
const MAX_AGE_MS = 300_000
/** Part of the lifetime of a login after which a new session begins. */
const LIFETIME_SHARE = 0.8
const ACKS = { all: -1, leader: 1 } as const

type Metadata = ReturnType<typeof metadataV9.parseResponse>

/**
 * Connections to the leaders of a topic's partitions, for one delivery at a time. A session is not repaired:
 * after a failure, a change of leaders or its maximum age, a new one takes its place.
 */
export class KafkaSession {
  readonly #options: KafkaOptions
  /** Addresses of the partitions' leaders. Null while a partition has none. */
  readonly #leaders: readonly (string | null)[]
  readonly #connections = new Map<string, Promise<BrokerConnection>>()
  #endsMono = performance.now() + MAX_AGE_MS

  private constructor(options: KafkaOptions, metadata: Metadata) {
    this.#options = options
    this.#leaders = leadersOf(metadata, options.topic)
  }

  /** Opens a session with the first broker that responds. @throws KafkaFault with the last broker's failure. */
  static async open(options: KafkaOptions): Promise<KafkaSession> {
    const endMono = performance.now() + options.timeoutMs
    let reason = ''
    for (const address of options.brokers) {
      try {
        const { connection } = await connectTo(address, options)
        try {
          return new KafkaSession(options, await metadataFrom(connection, options.topic))
        } finally {
          connection.socket.destroy()
        }
      } catch (error) {
        reason = `kafka at ${address}: ${reasonOf(error)}`
      }
      if (performance.now() > endMono) break
    }
    throw new KafkaFault(reason)
  }

  get partitions(): number {
    return this.#leaders.length
  }

  get hasEnded(): boolean {
    return performance.now() >= this.#endsMono
  }

  leaderOf(partition: number): string | null {
    return this.#leaders[partition] ?? null
  }

  /** Sends messages to a leader. The response may contain errors of partitions. @throws Error if there is none. */
  async produce(leader: string, messages: MessageRecord[]): Promise<produceV8.ProduceResponse> {
    const { acks, timeoutMs, compression } = this.#options
    try {
      const { connection } = await this.#connectionTo(leader)
      return await call(connection, produceV8, false, ACKS[acks], timeoutMs, messages, { compression })
    } catch (error) {
      if (error instanceof ResponseError) return error['response'] as produceV8.ProduceResponse
      this.end()
      throw error
    }
  }

  /** Ends the session after the delivery in progress. */
  end(): void {
    this.#endsMono = 0
  }

  /** Closes all connections. */
  close(): void {
    this.end()
    for (const connecting of this.#connections.values())
      connecting.then(({ connection }) => connection.socket.destroy()).catch(() => {})
    this.#connections.clear()
  }

  #connectionTo(address: string): Promise<BrokerConnection> {
    const known = this.#connections.get(address)
    if (known !== undefined) return known
    const connecting = connectTo(address, this.#options).then((connected) => {
      this.#endsMono = Math.min(this.#endsMono, performance.now() + connected.lifetimeMs * LIFETIME_SHARE)
      return connected
    })
    this.#connections.set(address, connecting)
    return connecting
  }
}

/** Reads the metadata of a topic. A broker may be configured to create the topic. */
async function metadataFrom(connection: BrokerConnection['connection'], topic: string): Promise<Metadata> {
  try {
    return await call(connection, metadataV9, true, [topic], true)
  } catch (error) {
    // A partition without a leader is an error of the response, but others may have one.
    const response = error instanceof ResponseError ? (error['response'] as Metadata) : null
    if (response === null || response.topics[0]?.errorCode !== 0) throw error
    return response
  }
}

/** @throws KafkaFault if the metadata does not contain the topic. */
function leadersOf({ brokers, topics }: Metadata, topic: string): readonly (string | null)[] {
  const addresses = new Map(
    brokers.map(({ nodeId, host, port }) => [
      nodeId,
      host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    ]),
  )
  const partitions = topics.find(({ name }) => name === topic)?.partitions ?? []
  if (partitions.length === 0) throw new KafkaFault(`no metadata of the topic ${topic}`)
  const leaders = new Array<string | null>(partitions.length).fill(null)
  for (const { partitionIndex, leaderId } of partitions)
    if (partitionIndex in leaders) leaders[partitionIndex] = addresses.get(leaderId) ?? null
  return leaders
}
