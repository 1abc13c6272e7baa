/** Records on their way to an output, oldest first. */
export interface Shipment {
  readonly count: number
  /** A name that belongs to record `i` alone, the same in every attempt, so that an output can refuse repetitions. */
  idOf(i: number): string
  /** The JSON of record `i`, printable ASCII without a newline; valid until the delivery has ended. */
  jsonOf(i: number): Buffer
  /** Bytes of the JSON of record `i`. */
  lengthOf(i: number): number
  /** Copies the JSON of record `i` to a position in a buffer that has room for it; returns its length. */
  copyJson(i: number, into: Buffer, at: number): number
  /** Bytes of all records together. */
  readonly bytes: number
  /** An earlier attempt, whose answer nobody has seen, may have delivered some of them. */
  readonly mayBeDelivered: boolean
}

/** A record that an output refuses, and the reason. */
export interface Refusal {
  /** Position in the shipment. */
  readonly index: number
  readonly status: number
  readonly type: string
  readonly reason: string
  /** True if the target is at fault, not the record: the record is sent again for a while before it is given up. */
  readonly isTemporary?: boolean
}

/** How an attempt to deliver a shipment ended. */
export type Delivery =
  /** The output answered for every record: those not named here are delivered. */
  | { readonly kind: 'answered'; readonly refused: readonly Refusal[]; readonly again: readonly number[] }
  /**
   * Nothing is known about any record; all have to be sent again. `overload`: smaller and fewer would be better.
   * `afterMs`: the output asks to be left alone for so long.
   */
  | {
      readonly kind: 'failed'
      readonly overload: boolean
      readonly reason: string
      readonly afterMs?: number
    }
  /** The output refuses the shipment as a whole: it is too large, or one of its records spoils it. Parts may pass. */
  | { readonly kind: 'unfit'; readonly status: number; readonly reason: string }

/**
 * Where records go in the end: what a shipper needs to know of Elasticsearch, of a syslog server, of Kafka. Several
 * deliveries may be under way at once.
 */
export interface LogOutput {
  /** Delivers a shipment; what fails is reported, not thrown. It has to end within a bound of its own. */
  deliver(shipment: Shipment): Promise<Delivery>
  /** Lets go of connections. */
  close(): Promise<void>
}

/** Reports to operators what is wrong with an output. */
export type ReportProblem = (problem: string) => void
