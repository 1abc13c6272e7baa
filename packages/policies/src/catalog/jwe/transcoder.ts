import { type CompileEnv, type Exchange, OFFLOAD_BYTES, type Offload, Overload } from '@sluice/core'
import { work } from './jwe-work.js'
import type { DecryptionPlan, EncryptionPlan } from './plain-key.js'

/** Messages that may be under way here; each holds its body, and waits for the threads that Node has for all. */
const MAX_PENDING = 64

type Job = (body: Uint8Array) => Promise<Uint8Array | null>

/** Encrypts or decrypts: short bodies on the spot, long ones on a thread of the worker's pool. */
export class Transcoder {
  readonly #inline: Job
  readonly #threads: Offload<Uint8Array, Uint8Array | null>
  #pending = 0

  /** @throws Error for keys that are not right. */
  constructor(plan: DecryptionPlan | EncryptionPlan, env: CompileEnv) {
    this.#inline = work(plan) as Job
    this.#threads = env.offload(new URL('./jwe-work.js', import.meta.url), plan)
  }

  /** @throws Overload when as much is under way as may be. */
  async run(body: Uint8Array, x: Exchange): Promise<Uint8Array | null> {
    if (body.length >= OFFLOAD_BYTES) return this.#threads.run(body, x)
    if (this.#pending >= MAX_PENDING) throw new Overload('as many messages are under way as may be')
    this.#pending++
    try {
      return await this.#inline(body)
    } finally {
      this.#pending--
    }
  }
}
