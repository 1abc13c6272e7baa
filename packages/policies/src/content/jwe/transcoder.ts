import { type CompileEnv, type Exchange, OFFLOAD_BYTES, type Offload, Overload } from '@sluice/core'
import { work } from './jwe-work.js'
import type { DecryptionPlan, EncryptionPlan } from './plain-key.js'

/** Maximum number of messages in progress. Each holds its body while it waits for the Node.js thread pool. */
const MAX_PENDING = 64

type Job = (body: Uint8Array) => Promise<Uint8Array | null>

/** Encrypts or decrypts: short bodies inline, long ones on a worker thread. */
export class Transcoder {
  readonly #inline: Job
  readonly #threads: Offload<Uint8Array, Uint8Array | null>
  #pending = 0

  /** @throws Error if a key is invalid. */
  constructor(plan: DecryptionPlan | EncryptionPlan, env: CompileEnv) {
    this.#inline = work(plan) as Job
    this.#threads = env.offload(new URL('./jwe-work.js', import.meta.url), plan)
  }

  /** @throws Overload if too many messages are in progress. */
  async run(body: Uint8Array, x: Exchange): Promise<Uint8Array | null> {
    if (body.length >= OFFLOAD_BYTES) return this.#threads.run(body, x)
    if (this.#pending >= MAX_PENDING) throw new Overload('too many messages are in progress')
    this.#pending++
    try {
      return await this.#inline(body)
    } finally {
      this.#pending--
    }
  }
}
