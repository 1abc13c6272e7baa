import type { Delivery, Refusal } from '../output.js'

/**
 * Reads what code that nobody here has checked says about a delivery; a mistake in it must not make the account of the
 * log wrong. @throws Error that says what is wrong.
 */
export function readDelivery(answer: unknown, count: number): Delivery {
  const delivery = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>
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

function readRefusal(answer: unknown, count: number): Refusal {
  const refusal = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>
  return {
    index: indexOf(refusal['index'], count),
    status: numberOf(refusal['status']),
    type: String(refusal['type'] ?? 'refused'),
    reason: String(refusal['reason'] ?? ''),
  }
}

function listOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer
  throw new Error('its delivery lacks the list of refused records or of those to send again')
}

function indexOf(answer: unknown, count: number): number {
  if (Number.isInteger(answer) && (answer as number) >= 0 && (answer as number) < count)
    return answer as number
  throw new Error(`its delivery names the record ${String(answer)} of ${count}`)
}

function numberOf(answer: unknown): number {
  return typeof answer === 'number' && answer > 0 ? answer : 0
}
