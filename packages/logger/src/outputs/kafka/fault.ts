import { MultipleErrors, NetworkError } from '@platformatic/kafka'
import { messageOf } from '@sluice/core'

/** A failure with a text for operators. */
export class KafkaFault extends Error {}

/** Returns the name of the first error in a broker's response, such as `TOPIC_AUTHORIZATION_FAILED`, or `no response`. */
export function faultCode(error: unknown): string {
  const [first] = error instanceof MultipleErrors ? error.errors : []
  const code: unknown = (first as { readonly apiId?: unknown } | undefined)?.apiId
  if (typeof code === 'string') return code
  const cause = (error as { readonly cause?: unknown } | null)?.cause
  return cause === undefined ? 'no valid response' : faultCode(cause)
}

/** Returns the reason of a failure for operators. It contains no text of the broker. */
export function reasonOf(error: unknown): string {
  if (error instanceof KafkaFault) return error.message
  if (error instanceof MultipleErrors) return `the broker responded with ${faultCode(error)}`
  const { cause, code, message } = error as NodeJS.ErrnoException
  // The class of timeouts has the same code.
  if (code === NetworkError.code) return cause instanceof Error ? messageOf(cause) : message
  return 'the broker sent an invalid response'
}
