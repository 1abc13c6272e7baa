/** Why records were lost. */
export type LossReason =
  /** The writer did not keep up, and the bound of unacknowledged bytes was reached. */
  | 'queue_full'
  /** One record alone was larger than the target takes. */
  | 'too_large'
  /** The exchange could not be turned into a record: a defect of the gateway. */
  | 'not_encodable'
  /** The disk or its quota is full. */
  | 'disk_full'
  /** Any other refusal of the file system. */
  | 'write_error'
  /** The writer's thread died with them. */
  | 'writer_lost'
  /** They were still held when the time to close was over. */
  | 'close_deadline'
  /** They came after the sink was closed. */
  | 'closed'

/** Whole lines on their way to the writer's thread; the buffer is transferred, not copied. */
export interface Batch {
  readonly kind: 'batch'
  readonly buffer: ArrayBuffer
  /** Used bytes of the buffer. */
  readonly length: number
  readonly records: number
}

/** What the writer's thread is told. */
export type ToWriter = Batch | { readonly kind: 'close' }

/** What became of one batch, in the order of the batches. */
export interface Receipt {
  readonly kind: 'receipt'
  readonly length: number
  readonly records: number
  /** Of these records, how many are delivered; the rest is lost for `reason`. */
  readonly written: number
  readonly reason: LossReason | ''
  /** Something an operator should know, or empty. */
  readonly problem: string
}
