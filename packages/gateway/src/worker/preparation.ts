import type { ConfigBundle } from '@sluice/config'
import { messageOf } from '@sluice/core'
import type { DataPlane, Prepared } from './data-plane.js'
import type { Answer } from './messages.js'

/**
 * The bundle that a worker has prepared but not activated, at most one. Steps run in order, so a discard that
 * arrives during a slow prepare still discards it.
 */
export class Preparation {
  readonly #plane: DataPlane
  #turn: Promise<unknown> = Promise.resolve()
  #pending: { readonly epoch: number; readonly prepared: Prepared } | null = null

  constructor(plane: DataPlane) {
    this.#plane = plane
  }

  prepare(id: number, epoch: number, bundle: ConfigBundle): Promise<Answer> {
    return this.#inTurn(id, async () => {
      this.#drop()
      this.#pending = { epoch, prepared: await this.#plane.prepare(bundle) }
      return { kind: 'prepared', id }
    })
  }

  activate(id: number, epoch: number): Promise<Answer> {
    return this.#inTurn(id, async () => {
      const pending = this.#pending
      if (pending?.epoch !== epoch) return failed(id, `epoch ${epoch} is not prepared`)
      this.#pending = null
      await pending.prepared.activate()
      return { kind: 'activated', id, digest: this.#plane.digest ?? '' }
    })
  }

  /** Discards the prepared bundle. It succeeds without one, because the prepare may have failed. */
  discard(id: number, epoch: number): Promise<Answer> {
    return this.#inTurn(id, async () => {
      if (this.#pending?.epoch === epoch) this.#drop()
      return { kind: 'discarded', id }
    })
  }

  #drop(): void {
    const pending = this.#pending
    this.#pending = null
    pending?.prepared.discard()
  }

  #inTurn(id: number, step: () => Promise<Answer>): Promise<Answer> {
    const answer = this.#turn.then(step).catch((error: unknown) => failed(id, messageOf(error)))
    this.#turn = answer
    return answer
  }
}

function failed(id: number, reason: string): Answer {
  return { kind: 'failed', id, reason }
}
