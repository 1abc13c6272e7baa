import type { Accepted, ApplyResult } from './apply-result.js'

/** Asked when all workers have prepared a bundle: true activates it, false has all of them discard it. */
export type Agree = (accepted: Accepted) => Promise<boolean>

interface Held {
  readonly digest: string
  readonly decide: (isActivated: boolean) => void
  /** How the rollout ends. */
  readonly ended: Promise<ApplyResult>
}

/**
 * The rollout that this gateway has prepared for a fleet: it waits until whoever asked for it knows that every other gateway
 * could prepare it too. Without a word in time it is discarded.
 */
export class HeldRollout {
  #held: Held | null = null

  /** Resolves when all workers have prepared what is applied, or with the end of a rollout that does not get so far. */
  prepare(apply: (agree: Agree) => Promise<ApplyResult>, holdMs: number): Promise<ApplyResult> {
    return new Promise((resolve, reject) => {
      const agree: Agree = (accepted) =>
        new Promise((decide) => {
          const timer = setTimeout(() => this.#decide(false), holdMs)
          const settle = (isActivated: boolean): void => {
            clearTimeout(timer)
            decide(isActivated)
          }
          this.#held = { digest: accepted.digest, decide: settle, ended }
          resolve({ result: 'prepared', ...accepted })
        })
      const ended = apply(agree)
      ended.then(resolve, reject)
    })
  }

  /** Says what becomes of the bundle with this digest. Null: it is not held, or no longer. */
  async settle(digest: string, isActivated: boolean): Promise<ApplyResult | null> {
    const held = this.#held
    if (held?.digest !== digest) return null
    this.#decide(isActivated)
    return await held.ended
  }

  #decide(isActivated: boolean): void {
    this.#held?.decide(isActivated)
    this.#held = null
  }
}
