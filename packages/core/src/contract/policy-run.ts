/**
 * How a policy took an exchange: `pass` it went on, `skip` its condition did not hold, `stop` it answered, `error` it
 * threw, or had not come to an end when nobody waited for it any more.
 */
export type PolicyVerdict = 'pass' | 'skip' | 'stop' | 'error'

const GRAVITY: Readonly<Record<PolicyVerdict, number>> = { skip: 0, pass: 1, stop: 2, error: 3 }

/** It had not come to an end when nobody waited for it any more. */
const UNANSWERED = 'unanswered'

/** It is in no phase. */
const IDLE = -1

/** What a policy did and took in all its phases. */
export class PolicyRun {
  readonly id: string
  ms = 0
  /** The gravest of its phases. */
  verdict: PolicyVerdict = 'skip'
  /** Why it stopped the exchange or failed, in a word; empty: there is nothing to say. */
  note = ''
  /** What the phase that it is in comes to, where its answer does not say. */
  mark: PolicyVerdict | null = null
  #sinceMono = IDLE

  constructor(id: string) {
    this.id = id
  }

  /** A phase of it begins. One that has not ended by now never will. */
  begin(nowMono: number): void {
    this.giveUp(nowMono)
    this.mark = null
    this.#sinceMono = nowMono
  }

  /** The phase that began at `sinceMono` has ended; one that was given up is not heard. */
  end(sinceMono: number, nowMono: number, verdict: PolicyVerdict, note = ''): void {
    if (sinceMono !== this.#sinceMono || sinceMono === IDLE) return
    this.#sinceMono = IDLE
    this.ms += nowMono - sinceMono
    const noted = this.mark ?? verdict
    if (GRAVITY[noted] <= GRAVITY[this.verdict]) return
    this.verdict = noted
    if (note !== '') this.note = note
  }

  /** Nobody waits for it any more. */
  giveUp(nowMono: number): void {
    this.end(this.#sinceMono, nowMono, 'error', UNANSWERED)
  }
}
