import type { Delivery, Refusal } from '../output.js'

/**
 * Validates the delivery returned by a custom output. An invalid result must not corrupt the record counts.
 * @throws Error with the reason.
 */
export function readDelivery(answer: unknown, count: number): Delivery {
  const delivery = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>
  const reason = String(delivery['reason'] ?? '')
  if (delivery['kind'] === 'unfit') return { kind: 'unfit', status: numberOf(delivery['status']), reason }
  if (delivery['kind'] === 'failed') {
    const afterMs = numberOf(delivery['afterMs'])
    return { kind: 'failed', overload: delivery['overload'] === true, reason, afterMs }
  }
  if (delivery['kind'] !== 'answered') throw new Error('it returned a delivery of an unknown kind')
  const again = listOf(delivery['again']).map((index) => indexOf(index, count))
  const refused = listOf(delivery['refused']).map((refusal) => readRefusal(refusal, count))
  const named = [...again, ...refused.map(({ index }) => index)]
  if (new Set(named).size < named.length) throw new Error('it returned a delivery that lists a record twice')
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
  throw new Error("it returned a delivery without a 'refused' or 'again' list")
}

function indexOf(answer: unknown, count: number): number {
  if (Number.isInteger(answer) && (answer as number) >= 0 && (answer as number) < count)
    return answer as number
  throw new Error(
    `it returned a delivery with the record index ${String(answer)}, but the shipment has ${count} records`,
  )
}

function numberOf(answer: unknown): number {
  return typeof answer === 'number' && answer > 0 ? answer : 0
}
