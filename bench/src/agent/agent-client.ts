import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { reasonOf } from '@sluice/core'
import { Client } from 'undici'
import type { ActionResults } from './agent-run.js'
import { type ActionInput, type ActionName, LINES_TYPE } from './protocol.js'

const CLOCK_ROUNDS = 9
const CLOCK_RESOLUTION_MS = 1

/** A run on an agent, for as long as the connection exists. */
export class AgentClient {
  /** Scheme, host and port. */
  readonly origin: string
  readonly #actions = new PassThrough().on('error', () => {})
  readonly #client: Client
  readonly #replies: Promise<AsyncIterator<string>>
  #last: Promise<unknown> = Promise.resolve()

  constructor(origin: string, token: string | null) {
    this.origin = origin
    this.#client = new Client(origin, { bodyTimeout: 0 })
    const headers = {
      'content-type': LINES_TYPE,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    }
    this.#replies = this.#client
      .request({ path: '/v1/run', method: 'POST', headers, body: this.#actions })
      .then(({ body }) => createInterface({ input: body.on('error', () => {}) })[Symbol.asyncIterator]())
    this.#replies.catch(() => undefined)
  }

  /** Performs an action after the previous ones. @throws Error with the reason */
  perform<A extends ActionName>(action: A, input: ActionInput<A>): Promise<ActionResults[A]> {
    const result = this.#last.then(async () => {
      this.#actions.write(`${JSON.stringify({ action, input })}\n`)
      const { value = '{"error":"it has closed the connection"}' } = await (await this.#replies).next()
      const reply = JSON.parse(value) as { readonly result: ActionResults[A] } | { readonly error: string }
      if ('error' in reply) throw new Error(reply.error)
      return reply.result
    })
    this.#last = result.catch(() => undefined)
    return result.catch((error: unknown) => {
      throw new Error(`the agent at ${this.origin}: ${reasonOf(error)}`, { cause: error })
    })
  }

  /** Ends the run. Resolves when nothing is left of it, or the agent cannot be reached. */
  async close(): Promise<void> {
    this.#actions.end()
    await this.#replies.then((replies) => replies.next()).catch(() => undefined)
    await this.#client.destroy()
  }
}

/** Returns the offset of another clock from the round trip with the least delay, as NTP does (RFC 5905, section 10). */
export async function measuredOffset(
  ask: () => Promise<number>,
  now: () => number = () => performance.timeOrigin + performance.now(),
): Promise<{ readonly offsetMs: number; readonly errorMs: number }> {
  let best = { delayMs: Number.POSITIVE_INFINITY, offsetMs: 0 }
  for (let i = 0; i < CLOCK_ROUNDS; i++) {
    const sent = now()
    const theirs = await ask()
    const delayMs = now() - sent
    if (delayMs < best.delayMs) best = { delayMs, offsetMs: theirs - (sent + delayMs / 2) }
  }
  return { offsetMs: best.offsetMs, errorMs: best.delayMs / 2 + CLOCK_RESOLUTION_MS }
}
