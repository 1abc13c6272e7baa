/**
 * Result of a policy: `pass` (continued), `skip` (its condition was false), `stop` (it sent a response), or
 * `error` (it threw, or had not finished when the exchange ended).
 */
export type PolicyVerdict = 'pass' | 'skip' | 'stop' | 'error'

const GRAVITY: Readonly<Record<PolicyVerdict, number>> = { skip: 0, pass: 1, stop: 2, error: 3 }

/** Note for a policy that had not finished when the exchange ended. */
const UNANSWERED = 'unanswered'

/** Value of `#sinceMono` while the policy is not running. */
const IDLE = -1

/** Result and duration of one policy across all its phases. */
export class PolicyRun {
  readonly id: string
  ms = 0
  /** The most severe result of all phases. */
  verdict: PolicyVerdict = 'skip'
  /** Short reason why the policy stopped the exchange or failed. Empty if unknown. */
  note = ''
  /** Result of the current phase that overrides the one passed to `end`, or null. */
  mark: PolicyVerdict | null = null
  #sinceMono = IDLE

  constructor(id: string) {
    this.id = id
  }

  /** Starts a phase. A previous phase that is still open is recorded as unanswered. */
  begin(nowMono: number): void {
    this.abandon(nowMono)
    this.mark = null
    this.#sinceMono = nowMono
  }

  /** Ends the phase that began at `sinceMono`. Ignored if that phase was abandoned. */
  end(sinceMono: number, nowMono: number, verdict: PolicyVerdict, note = ''): void {
    if (sinceMono !== this.#sinceMono || sinceMono === IDLE) return
    this.#sinceMono = IDLE
    this.ms += nowMono - sinceMono
    const noted = this.mark ?? verdict
    if (GRAVITY[noted] <= GRAVITY[this.verdict]) return
    this.verdict = noted
    if (note !== '') this.note = note
  }

  /** Records the current phase as unanswered, because the exchange no longer waits for it. */
  abandon(nowMono: number): void {
    this.end(this.#sinceMono, nowMono, 'error', UNANSWERED)
  }
}
