/** Why records are lost: the label `reason` of `gw_log_dropped_total`, the members of `droppedBy`; and what it means. */
export const LOSS_REASONS = {
  queue_full: 'The thread of the log did not keep up: what waited for it in memory was at its bound (8 MB).',
  too_large: 'One record alone was larger than a segment takes.',
  not_encodable: 'The call could not be turned into a record, a defect of the gateway.',
  disk_full:
    'The disk or its quota is full: with `sink: file` at once, else when what waits for it in memory is at its bound (16 MB).',
  write_error: 'The file system refused them for any other reason.',
  spool_full: 'The spool was at its bound (`spool.maxBytes`), and gave up its oldest.',
  corrupt: 'They were on disk, and are damaged.',
  process_lost: 'Their process ended before they were on disk; whoever takes over its spool counts them.',
  writer_lost: 'The thread of the log ended with them.',
  close_deadline: 'They were still held when the time to close was over.',
  closed: 'They came after the log was closed.',
  worker: 'A worker without a spool (`sink: file`) ended with them.',
} as const

/** Why records were lost. */
export type LossReason = keyof typeof LOSS_REASONS
