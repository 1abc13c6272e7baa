import type { ApplyResult, ConfirmActivation } from './apply-result.js'

interface Held {
  readonly digest: string
  readonly decide: (isActivated: boolean) => void
  /** Resolves with the result of the rollout. */
  readonly ended: Promise<ApplyResult>
}

/**
 * A rollout that this gateway has prepared as part of a fleet. It is held until the caller confirms that
 * every other gateway has prepared it too, and discarded if no decision arrives in time.
 */
export class HeldRollout {
  #held: Held | null = null

  /**
   * Resolves once all workers have prepared the bundle, or with the result of a rollout that fails earlier.
   */
  prepare(apply: (confirm: ConfirmActivation) => Promise<ApplyResult>, holdMs: number): Promise<ApplyResult> {
    return new Promise((resolve, reject) => {
      const confirm: ConfirmActivation = (accepted) =>
        new Promise((decide) => {
          const timer = setTimeout(() => this.#decide(false), holdMs)
          const settle = (isActivated: boolean): void => {
            clearTimeout(timer)
            decide(isActivated)
          }
          this.#held = { digest: accepted.digest, decide: settle, ended }
          resolve({ result: 'prepared', ...accepted })
        })
      const ended = apply(confirm)
      ended.then(resolve, reject)
    })
  }

  /** Activates or discards the held bundle. Returns null if the digest is not held (any more). */
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
