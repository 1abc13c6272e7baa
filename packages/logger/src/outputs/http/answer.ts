import { messageOf, retryAfterMs } from '@sluice/core'
import type { Delivery, Shipment } from '../output.js'

/** Response of an HTTP target. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly contentType: string | undefined
  /** Beginning of the body, at most 16 KB. */
  readonly body: Buffer
  /** Beginning of the body, for operators. */
  readonly text: string
}

/** Names of a target in messages. */
export interface TargetNames {
  /** Subject of a sentence, such as `the webhook`. */
  readonly subject: string
  /** Key of the credentials, such as `log.webhook.auth`. */
  readonly credentials: string
}

/** Statuses of temporary failures that the request did not cause. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429])
/** Statuses of credential failures. Records can be delivered after the credentials are corrected. */
const CREDENTIALS: ReadonlySet<number> = new Set([401, 403, 407])

/** Returns the outcome for the records of a request. */
export function httpDelivery(answer: Answer, shipment: Shipment, names: TargetNames): Delivery {
  const { status, retryAfter } = answer
  const reason = answerText(answer, names)
  if (status >= 200 && status < 300) return { kind: 'answered', refused: [], again: [] }
  if (status === 413) return { kind: 'unfit', status, reason }
  if (status >= 500 || PASSING.has(status)) {
    const overload = status === 429 || status === 503
    return { kind: 'failed', overload, reason, afterMs: retryAfterMs(retryAfter, Date.now()) }
  }
  if (CREDENTIALS.has(status))
    return { kind: 'failed', overload: false, reason: `${reason}; check ${names.credentials}` }
  if (status < 400)
    return { kind: 'failed', overload: false, reason: `${reason}; configure the URL that it redirects to` }
  const refused = Array.from({ length: shipment.count }, (_, index) => {
    // A receiver may answer 404 while it is being deployed.
    return { index, status, type: 'request_refused', reason, isTemporary: status === 404 }
  })
  return { kind: 'answered', refused, again: [] }
}

/** Describes a response, with the beginning of its body. */
export function answerText({ status, text }: Answer, { subject }: TargetNames): string {
  return `${subject} responded with ${status}${text === '' ? '' : `: ${text}`}`
}

/** Returns the outcome if there was no response. */
export function unansweredDelivery(error: unknown, { subject }: TargetNames): Delivery {
  const { code } = error as NodeJS.ErrnoException
  // The receiver may have cut the connection because the body is too large.
  const overload = code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT'
  return { kind: 'failed', overload, reason: `${subject} does not respond: ${messageOf(error)}` }
}
