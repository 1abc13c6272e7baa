import { type CompileEnv, type Exchange, OFFLOAD_BYTES, Overload } from '@sluice/core'
import { work } from './jwe-work.js'
import type { DecryptionPlan, EncryptionPlan } from './plain-key.js'

/** Maximum number of messages in progress. Each holds its body while it waits for the Node.js thread pool. */
const MAX_PENDING = 64

/**
 * Returns a function that encrypts or decrypts: short bodies inline, long ones on a worker thread. It rejects
 * with Overload if too many messages are in progress.
 * @throws Error if a key is invalid.
 */
export function compileTranscoder(plan: DecryptionPlan | EncryptionPlan, env: CompileEnv) {
  const inline = work(plan) as (body: Uint8Array) => Promise<Uint8Array | null>
  const threads = env.offload<Uint8Array, Uint8Array | null>(new URL('./jwe-work.js', import.meta.url), plan)
  let pending = 0
  return async (body: Uint8Array, x: Exchange): Promise<Uint8Array | null> => {
    if (body.length >= OFFLOAD_BYTES) return threads.run(body, x)
    if (pending >= MAX_PENDING) throw new Overload('too many messages are in progress')
    pending++
    try {
      return await inline(body)
    } finally {
      pending--
    }
  }
}
