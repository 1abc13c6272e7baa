/**
 * Reasons for lost records and their descriptions. The keys are the `reason` label of `gw_log_dropped_total`
 * and the members of `droppedBy`.
 */
export const LOSS_REASONS = {
  queue_full: 'The log thread fell behind, and its memory queue reached the limit of 8 MB.',
  too_large: 'A single record was larger than the segment size.',
  not_encodable: 'The exchange could not be encoded as a record. This is a bug in the gateway.',
  disk_full:
    'The disk or its quota is full. With `sink: file`, records are lost at once, otherwise after 16 MB are waiting in memory.',
  write_error: 'Writing failed for a reason other than a full disk.',
  spool_full: 'The spool reached `spool.maxBytes`, and its oldest records were deleted.',
  corrupt: 'The records on disk are damaged.',
  process_lost: 'The process ended before the records were on disk. The next owner of its spool counts them.',
  writer_lost: 'The log thread ended before it had written the records.',
  close_deadline: 'The records were still pending when the shutdown deadline expired.',
  closed: 'The records arrived after the log was closed.',
  worker: 'A worker without a spool (`sink: file`) ended before it had written the records.',
} as const

/** Reason for lost records. */
export type LossReason = keyof typeof LOSS_REASONS
