/** Batch of records for an output, oldest first. */
export interface Shipment {
  readonly count: number
  /**
   * Returns the unique ID of record `i`. It is the same in every attempt, so that an output can detect
   * duplicates.
   */
  idOf(i: number): string
  /**
   * Returns the JSON of record `i`: printable ASCII without a newline. Valid until the delivery has ended.
   */
  jsonOf(i: number): Buffer
  /** Body of a bulk request to Elasticsearch with all records. Valid until the delivery has ended. */
  readonly bulkBody: Buffer
  /** True if an earlier attempt whose response was lost may have delivered some of the records. */
  readonly mayBeDelivered: boolean
}

/** A record that an output refused, with the reason. */
export interface Refusal {
  /** Index in the shipment. */
  readonly index: number
  readonly status: number
  readonly type: string
  readonly reason: string
  /**
   * True if the target is at fault, not the record. The record is retried for a while before it becomes a
   * dead letter.
   */
  readonly isTemporary?: boolean
}

/** Result of an attempt to deliver a shipment. */
export type Delivery =
  /**
   * The output accepted the shipment. Records listed in `refused` are rejected, those in `again` must be
   * retried, and all others are delivered.
   */
  | { readonly kind: 'answered'; readonly refused: readonly Refusal[]; readonly again: readonly number[] }
  /**
   * The result is unknown for all records, so all must be retried. `overload`: use smaller and fewer
   * requests. `afterMs`: minimum wait requested by the output, in milliseconds.
   */
  | {
      readonly kind: 'failed'
      readonly overload: boolean
      readonly reason: string
      readonly afterMs?: number
    }
  /**
   * The output refused the whole shipment because it is too large or contains an invalid record. Smaller
   * parts may be accepted.
   */
  | { readonly kind: 'unfit'; readonly status: number; readonly reason: string }

/**
 * Destination of records, such as Elasticsearch, a syslog server or a webhook. Several deliveries may be in
 * progress at once.
 */
export interface LogOutput {
  /** Delivers a shipment. Reports failures as a result and does not throw. Must apply a timeout. */
  deliver(shipment: Shipment): Promise<Delivery>
  /** Closes all connections. */
  close(): Promise<void>
}

/** Reports a problem with an output to the operator. */
export type ReportProblem = (problem: string) => void
