import { retryAfterMs } from '@sluice/core'
import type { Delivery, Shipment } from '../output.js'

/** What a receiver has answered. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  /** The beginning of the body, for operators. */
  readonly text: string
}

/** These say that the request was not to blame, and that it may pass later. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429])
/** These are about who asks, not about records: they pass when the credentials have been corrected. */
const CREDENTIALS: ReadonlySet<number> = new Set([401, 403, 407])

/** Returns the outcome for the records of a request. */
export function webhookDelivery({ status, retryAfter, text }: Answer, shipment: Shipment): Delivery {
  const reason = `the webhook answered ${status}${text === '' ? '' : `: ${text}`}`
  if (status >= 200 && status < 300) return { kind: 'answered', refused: [], again: [] }
  if (status === 413) return { kind: 'unfit', status, reason }
  if (status >= 500 || PASSING.has(status)) {
    const overload = status === 429 || status === 503
    return { kind: 'failed', overload, reason, afterMs: retryAfterMs(retryAfter, Date.now()) }
  }
  if (CREDENTIALS.has(status))
    return { kind: 'failed', overload: false, reason: `${reason}; check log.webhook.auth` }
  if (status < 400)
    return { kind: 'failed', overload: false, reason: `${reason}; write the URL to which it leads` }
  const refused = Array.from({ length: shipment.count }, (_, index) => {
    // A receiver that is being deployed answers 404 for a while.
    return { index, status, type: 'request_refused', reason, isTemporary: status === 404 }
  })
  return { kind: 'answered', refused, again: [] }
}
