import type { produceV8 } from '@platformatic/kafka'
import type { Delivery, LogOutput, Shipment } from '../output.js'
import { KafkaFault, reasonOf } from './fault.js'
import { type KafkaMessage, roundsOf } from './messages.js'
import type { KafkaOptions } from './options.js'
import { groupBy, Outcome } from './outcome.js'
import { KafkaSession } from './session.js'

/** Output to a topic of Apache Kafka 2.5 or later. Makes one attempt per delivery and keeps no records. */
export class KafkaOutput implements LogOutput {
  readonly #options: KafkaOptions
  #session: KafkaSession | null = null
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: KafkaOptions) {
    this.#options = options
  }

  /** Deliveries are made one after another, because messages would otherwise change their order. */
  deliver(shipment: Shipment): Promise<Delivery> {
    const delivery = this.#last.then(() => this.#deliver(shipment))
    this.#last = delivery
    return delivery
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#session?.close()
  }

  async #deliver(shipment: Shipment): Promise<Delivery> {
    try {
      this.#session ??= await KafkaSession.open(this.#options)
      if (this.#isClosed) throw new KafkaFault('the traffic log is closed')
      return await this.#send(shipment, this.#session)
    } catch (error) {
      return { kind: 'failed', overload: false, reason: reasonOf(error) }
    } finally {
      if (this.#isClosed || this.#session?.hasEnded === true) {
        this.#session?.close()
        this.#session = null
      }
    }
  }

  /** Sends the rounds one after another, until one fails. */
  async #send(shipment: Shipment, session: KafkaSession): Promise<Delivery> {
    const outcome = new Outcome(shipment.count)
    for (const round of roundsOf(shipment, this.#options, session.partitions)) {
      if (outcome.hasFailed) outcome.failed(round, '')
      else await this.#sendRound(round, session, outcome)
    }
    return outcome.delivery()
  }

  async #sendRound(round: readonly KafkaMessage[], session: KafkaSession, outcome: Outcome): Promise<void> {
    const byLeader = groupBy(round, ({ partition }) => session.leaderOf(partition))
    await Promise.all(
      [...byLeader].map(async ([leader, messages]) => {
        if (leader === null)
          return outcome.failed(messages, `a partition of the topic ${this.#options.topic} has no leader`)
        let response: produceV8.ProduceResponse
        try {
          response = await session.produce(leader, messages)
        } catch (error) {
          return outcome.failed(messages, `kafka at ${leader}: ${reasonOf(error)}`)
        }
        outcome.answered(messages, response)
      }),
    )
    if (outcome.isStale) session.end()
  }
}
