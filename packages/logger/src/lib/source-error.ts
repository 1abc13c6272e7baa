/**
 * Reason why a source cannot be read: it does not respond, it rejects the credentials, the log does not
 * exist, or another failure.
 */
export type SourceFault = 'unreachable' | 'refused' | 'missing' | 'failed'

/** Error for a source that cannot be read. The message includes a remedy. */
export class SourceError extends Error {
  readonly fault: SourceFault

  constructor(fault: SourceFault, message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'SourceError'
    this.fault = fault
  }
}
