import type { Delivery, Refusal } from '../target.js'

/**
 * Reads what code that nobody here has checked says about a delivery; a mistake in it must not make the account of the
 * log wrong. @throws Error that says what is wrong.
 */
export function readDelivery(told: unknown, count: number): Delivery {
  const delivery = (typeof told === 'object' && told !== null ? told : {}) as Record<string, unknown>
  const reason = String(delivery['reason'] ?? '')
  if (delivery['kind'] === 'unfit') return { kind: 'unfit', status: numberOf(delivery['status']), reason }
  if (delivery['kind'] === 'failed') {
    const afterMs = numberOf(delivery['afterMs'])
    return { kind: 'failed', overload: delivery['overload'] === true, reason, afterMs }
  }
  if (delivery['kind'] !== 'answered') throw new Error('its delivery has no known kind')
  const again = listOf(delivery['again']).map((index) => indexOf(index, count))
  const refused = listOf(delivery['refused']).map((refusal) => readRefusal(refusal, count))
  const named = [...again, ...refused.map(({ index }) => index)]
  if (new Set(named).size < named.length) throw new Error('its delivery names a record twice')
  return { kind: 'answered', refused, again }
}

function readRefusal(told: unknown, count: number): Refusal {
  const refusal = (typeof told === 'object' && told !== null ? told : {}) as Record<string, unknown>
  return {
    index: indexOf(refusal['index'], count),
    status: numberOf(refusal['status']),
    type: String(refusal['type'] ?? 'refused'),
    reason: String(refusal['reason'] ?? ''),
  }
}

function listOf(told: unknown): readonly unknown[] {
  if (Array.isArray(told)) return told
  throw new Error('its delivery lacks the list of refused records or of those to send again')
}

function indexOf(told: unknown, count: number): number {
  if (Number.isInteger(told) && (told as number) >= 0 && (told as number) < count) return told as number
  throw new Error(`its delivery names the record ${String(told)} of ${count}`)
}

function numberOf(told: unknown): number {
  return typeof told === 'number' && told > 0 ? told : 0
}
