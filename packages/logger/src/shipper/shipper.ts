import { setTimeout as sleep } from 'node:timers/promises'
import { yieldCpu } from '../lib/yield.js'
import type { LogOutput, Refusal } from '../outputs/output.js'
import type { LogChange, ReportChange } from '../queue/messages.js'
import type { Segment } from '../spool/segment.js'
import type { SegmentShipment } from '../spool/segment-content.js'
import type { Spool } from '../spool/spool.js'
import type { DeadLetters } from './dead-letters.js'
import { Outage } from './outage.js'
import { Pace } from './pace.js'

/** Dependencies of a shipper. */
export interface ShipperOptions {
  readonly spool: Spool
  readonly output: LogOutput
  readonly deadLetters: DeadLetters
  readonly report: ReportChange
  /**
   * Time in milliseconds that a record is retried while the target temporarily refuses it; default 15
   * minutes.
   */
  readonly holdMs?: number
}

const HOLD_MS = 15 * 60_000
/** Maximum length of a reason in a problem report, in characters. */
const MAX_CAUSE = 200

/** Average wait before retrying records for which the output had no room, in milliseconds. */
const AGAIN_MS = 200
const POLL_MS = 10
/** Number of dead letters written before yielding, to limit the delay of requests on the same core. */
const LETTERS_AT_ONCE = 64
/** Error types of Elasticsearch for records that do not match the mapping. */
const MAPPING_ERRORS: ReadonlySet<string> = new Set([
  'document_parsing_exception',
  'mapper_parsing_exception',
  'strict_dynamic_mapping_exception',
  'illegal_argument_exception',
])

/** Counts of one delivery. */
interface Outcome {
  readonly again: number
  readonly count: number
  readonly durationMs: number
  /** First refusal of the records that are retried, or undefined. */
  readonly held: Refusal | undefined
}

/** Maximum wait for open deliveries after the output was closed, in milliseconds. */
const LAST_MS = 100

/**
 * Takes segments from the spool, oldest first, and delivers them to the output, several at a time, until
 * every record is delivered or permanently refused. Retries forever if the output does not respond.
 */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #pace = new Pace()
  readonly #outage = new Outage()
  readonly #underWay = new Set<Promise<void>>()
  readonly #ending = new AbortController()
  #closed: Promise<void> | null = null

  constructor(options: ShipperOptions) {
    this.#options = options
  }

  /** True if the last delivery got a response. */
  get isWorking(): boolean {
    return this.#outage.failures === 0
  }

  /**
   * Starts deliveries of waiting segments, as many as the pace allows. Called whenever there may be something
   * to ship.
   */
  pump(): void {
    const allowed = this.#outage.failures > 0 ? 1 : this.#pace.concurrency
    while (!this.#isEnding && this.#underWay.size < allowed) {
      const segment = this.#options.spool.take()
      if (segment === null) return
      const shipping = this.#ship(segment).finally(() => {
        this.#underWay.delete(shipping)
        this.pump()
      })
      this.#underWay.add(shipping)
    }
  }

  /** Ships all waiting records for at most `deadlineMs`, then closes the output and the spool. */
  close(deadlineMs: number): Promise<void> {
    this.#closed ??= this.#close(deadlineMs)
    return this.#closed
  }

  async #close(deadlineMs: number): Promise<void> {
    const { spool, output } = this.#options
    const endMono = performance.now() + deadlineMs
    spool.sealOpen()
    this.pump()
    while (performance.now() < endMono && !(this.#underWay.size === 0 && spool.isEmpty)) {
      await sleep(POLL_MS)
    }
    this.#ending.abort()
    this.#outage.end()
    await output.close()
    await Promise.race([Promise.allSettled(this.#underWay), sleep(LAST_MS, undefined, { ref: false })])
    spool.close()
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  /** Waits, or returns early if the shipper is closed. */
  async #wait(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ending.signal }).catch(() => {})
  }

  async #ship(segment: Segment): Promise<void> {
    const { spool } = this.#options
    const content = this.#read(segment)
    if (content === null) return
    let left: readonly number[] = Array.from({ length: content.records }, (_, position) => position)
    while (left.length > 0) {
      if (!(await this.#outage.mayTry())) {
        spool.putBack(segment)
        return
      }
      const piece = left.slice(0, this.#pace.records)
      const again = await this.#deliver(segment, content.shipmentOf(piece, segment.mayBeDelivered))
      left = [...again, ...left.slice(piece.length)]
    }
    spool.settle(segment)
  }

  /** Makes one delivery attempt. Returns the positions of the records that must be sent again. */
  async #deliver(segment: Segment, shipment: SegmentShipment): Promise<readonly number[]> {
    const startedMono = performance.now()
    const delivery = await this.#options.output.deliver(shipment)
    if (delivery.kind !== 'answered') segment.unanswered()
    if (this.#isEnding && delivery.kind !== 'answered') return shipment.positions
    if (delivery.kind === 'failed') {
      if (delivery.overload) this.#pace.overloaded()
      this.#outage.failed(delivery.afterMs)
      this.#options.report({ problem: `delivery is paused: ${delivery.reason}` })
      return shipment.positions
    }
    if (delivery.kind === 'unfit') return this.#divide(segment, shipment, delivery)
    const durationMs = performance.now() - startedMono
    const held = this.#heldOf(segment, delivery.refused)
    const refused = delivery.refused.filter((refusal) => !held.includes(refusal))
    const again = [...delivery.again, ...held.map(({ index }) => index)].sort((a, b) => a - b)
    this.#account(segment, { indexed: shipment.count - refused.length - again.length })
    await this.#refuse(segment, shipment, refused)
    await this.#adapt({ again: again.length, count: shipment.count, durationMs, held: held[0] })
    return again.map((i) => shipment.positions[i]!)
  }

  /**
   * Returns the temporary refusals, or none if the segment has been refused for longer than the hold time.
   */
  #heldOf(segment: Segment, refused: readonly Refusal[]): readonly Refusal[] {
    const temporary = refused.filter(({ isTemporary }) => isTemporary === true)
    if (temporary.length === 0) return temporary
    segment.refusedSinceMono ??= performance.now()
    const heldMs = performance.now() - segment.refusedSinceMono
    return heldMs < (this.#options.holdMs ?? HOLD_MS) ? temporary : []
  }

  /** Handles a shipment that was refused as a whole. It is split until the offending record is found. */
  async #divide(
    segment: Segment,
    shipment: SegmentShipment,
    { status, reason }: { readonly status: number; readonly reason: string },
  ): Promise<readonly number[]> {
    this.#outage.worked()
    if (shipment.count === 1) {
      await this.#refuse(segment, shipment, [{ index: 0, status, type: 'request_refused', reason }])
      return []
    }
    this.#pace.tooLarge(shipment.count)
    return shipment.positions
  }

  async #adapt({ again, count, durationMs, held }: Outcome): Promise<void> {
    if (again === 0) {
      this.#outage.worked()
      this.#pace.delivered(durationMs)
      return
    }
    this.#pace.overloaded()
    const cause =
      held === undefined ? 'no room' : `${held.status} ${held.type}: ${held.reason.slice(0, MAX_CAUSE)}`
    this.#options.report({
      problem: `the target temporarily refuses ${again} of ${count} records (${cause}); they are retried`,
    })
    if (again === count) {
      this.#outage.failed()
      return
    }
    this.#outage.worked()
    await this.#wait(AGAIN_MS * (0.5 + Math.random()))
  }

  /**
   * Writes refused records as dead letters. Reports once at the end, because each report with a
   * problem is a message to the request path.
   */
  async #refuse(segment: Segment, shipment: SegmentShipment, refused: readonly Refusal[]): Promise<void> {
    const { deadLetters } = this.#options
    let dead = 0
    let failure = ''
    for (let from = 0; from < refused.length; from += LETTERS_AT_ONCE) {
      await yieldCpu(this.#ending.signal)
      try {
        const some = refused.slice(from, from + LETTERS_AT_ONCE)
        deadLetters.keep(shipment, some)
        dead += some.length
      } catch (error) {
        failure = (error as Error).message
      }
    }
    if (dead > 0) this.#account(segment, { dead, problem: refusedText(refused, deadLetters.dir) })
    const dropped = refused.length - dead
    if (dropped > 0) {
      const problem = `cannot write dead letters: ${failure}`
      this.#account(segment, { dropped, reason: 'write_error', problem })
    }
    // Otherwise the next segment would be read immediately.
    if (refused.length > 0) await yieldCpu(this.#ending.signal)
  }

  #read(segment: Segment): ReturnType<Segment['read']> | null {
    try {
      const content = segment.read()
      const damaged = segment.records - content.records
      if (damaged > 0) this.#lose(segment, damaged, `${damaged} records of a spool file are damaged`)
      return content
    } catch (error) {
      this.#lose(segment, segment.records, `cannot read a spool file: ${(error as Error).message}`)
      this.#options.spool.settle(segment)
      return null
    }
  }

  #lose(segment: Segment, records: number, problem: string): void {
    this.#account(segment, { dropped: records, reason: 'corrupt', problem })
  }

  /** Reports the new place of a segment's records. */
  #account(segment: Segment, change: LogChange): void {
    const gone = (change.indexed ?? 0) + (change.dead ?? 0) + (change.dropped ?? 0)
    this.#options.report(segment.isOnDisk ? { ...change, onDisk: -gone } : { ...change, inMemory: -gone })
  }
}

function refusedText(refused: readonly Refusal[], dir: string): string {
  // The reason is not shown, because it may contain data of the record.
  const { type, status } = refused[0]!
  return `${refused.length} records refused by the target (${status} ${type}); they are in ${dir}, with the reasons${remedyFor(refused[0]!)}`
}

function remedyFor({ type, isTemporary }: Refusal): string {
  if (isTemporary === true) return "; repair the index, then run 'gw logs replay-dead'"
  if (!MAPPING_ERRORS.has(type)) return ''
  return "; they do not match the mapping of the data stream: run 'gw log-setup', then 'gw logs replay-dead'"
}
