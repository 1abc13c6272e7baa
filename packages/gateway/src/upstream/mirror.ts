import type { MirrorPlan } from '@sluice/config'
import { BodyBlock } from '../lib/body-block.js'
import type { Report } from '../telemetry/operation-log.js'
import { AnswerComparison, type AnswerSide } from './answer-comparison.js'
import type { Target } from './target.js'
import type { ReceivedHead } from './transport/received-head.js'
import type { Attempt, AttemptObserver, Failure, UpstreamRequest } from './transport/transport.js'

/** The original request, whose target answers the client. */
export interface MainRequest {
  readonly request: UpstreamRequest
  readonly target: Target
  readonly observer: AttemptObserver
}

/**
 * Copies requests to the mirror targets, over separate connections. Their responses are not waited for: copies without
 * room are skipped, slow ones are abandoned, and failures are counted.
 */
export class Mirror {
  readonly #plan: MirrorPlan
  readonly #upstream: string
  #targets: readonly Target[] = []
  readonly #report: Report
  #turn = 0
  #owed = 0
  #underWay = 0
  #comparisons = 0
  /** Number of requests not mirrored, because of concurrency or body size. */
  skipped = 0
  /** Number of responses that differed from the client's. */
  differences = 0

  constructor(plan: MirrorPlan, upstream: string, report: Report) {
    this.#plan = plan
    this.#upstream = upstream
    this.#report = report
  }

  setTargets(targets: readonly Target[]): void {
    this.#targets = targets
  }

  /**
   * Mirrors a request, if it is due. Returns the observer for the original request, which may compare the responses.
   */
  copyRequest(main: MainRequest): AttemptObserver {
    this.#owed += this.#plan.percent
    if (this.#owed < 1) return main.observer
    this.#owed -= 1
    const target = this.#takeTarget(main.request)
    if (target === null) {
      this.skipped++
      return main.observer
    }
    const comparison = this.#openComparison(main, target)
    this.#send(main, target, comparison?.mirrored ?? null)
    return comparison === null ? main.observer : new ComparedObserver(main.observer, comparison.delivered)
  }

  /** Returns null if responses are not compared, or if the maximum number of comparisons is in progress. */
  #openComparison(main: MainRequest, target: Target): AnswerComparison | null {
    const { compare, concurrency, timeoutMs } = this.#plan
    if (compare === null || this.#comparisons >= concurrency) return null
    this.#comparisons++
    return new AnswerComparison(compare, timeoutMs, (found) => {
      this.#comparisons--
      if (found !== null) this.#onDifference(main, target, found)
    })
  }

  #takeTarget({ body, upload }: UpstreamRequest): Target | null {
    const { concurrency, maxBodyBytes } = this.#plan
    if (this.#targets.length === 0 || this.#underWay >= concurrency || upload !== null) return null
    if (body !== null && body.length > maxBodyBytes) return null
    const target = this.#targets[this.#turn++ % this.#targets.length]!
    return target.isAvailable && target.active < target.capacity ? target : null
  }

  #send({ request, target: main }: MainRequest, target: Target, side: AnswerSide | null): void {
    this.#underWay++
    target.active++
    target.attempts++
    const onOver = (isFailed: boolean): void => {
      this.#underWay--
      target.active--
      if (isFailed) target.failures++
    }
    const attempt = new MirrorAttempt(this.#plan.timeoutMs, side, onOver)
    const host = request.host === main.authority ? target.authority : request.host
    const body = request.body instanceof BodyBlock ? request.body.bytes() : request.body
    const copy = { ...request, host, headers: request.headers.slice(), body }
    attempt.begin(target.transport.dispatch(copy, attempt, false))
  }

  #onDifference({ request }: MainRequest, { origin }: Target, found: object): void {
    this.differences++
    this.#report('mirror_difference', { upstream: this.#upstream, target: origin, id: request.id, ...found })
  }
}

class MirrorAttempt implements AttemptObserver {
  readonly #side: AnswerSide | null
  readonly #onOver: (isFailed: boolean) => void
  readonly #timer: NodeJS.Timeout
  #attempt: Attempt | null = null
  #isOver = false

  constructor(timeoutMs: number, side: AnswerSide | null, onOver: (isFailed: boolean) => void) {
    this.#side = side
    this.#onOver = onOver
    this.#timer = setTimeout(() => this.#giveUp(), timeoutMs).unref()
  }

  begin(attempt: Attempt): void {
    this.#attempt = attempt
  }

  onStarted(): void {}

  onHead(head: ReceivedHead): void {
    this.#side?.setHead(head)
  }

  onData(chunk: Uint8Array): void {
    this.#side?.add(chunk)
  }

  onEnd(): void {
    this.#end(false)
    this.#side?.end()
  }

  onFailure(_failure: Failure): void {
    this.#end(true)
    this.#side?.fail()
  }

  #giveUp(): void {
    this.#attempt?.abort()
    this.#end(true)
    this.#side?.fail()
  }

  #end(isFailed: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#onOver(isFailed)
  }
}

/** Passes a response on to its observer and to the comparison. */
class ComparedObserver implements AttemptObserver {
  readonly #observer: AttemptObserver
  readonly #side: AnswerSide

  constructor(observer: AttemptObserver, side: AnswerSide) {
    this.#observer = observer
    this.#side = side
  }

  onStarted(opening: Parameters<AttemptObserver['onStarted']>[0]): void {
    this.#observer.onStarted(opening)
  }

  onHead(head: ReceivedHead): void {
    this.#side.setHead(head)
    this.#observer.onHead(head)
  }

  onData(chunk: Uint8Array): void {
    this.#side.add(chunk)
    this.#observer.onData(chunk)
  }

  onEnd(trailers: readonly string[] | null): void {
    this.#observer.onEnd(trailers)
    this.#side.end()
  }

  onFailure(failure: Failure): void {
    this.#observer.onFailure(failure)
    this.#side.fail()
  }
}
