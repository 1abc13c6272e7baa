import { Overload, type Reply, refusal } from '@sluice/core'

/** The refusal of a body that there is no thread for. */
export function overloadRefusal(detail: string): Reply {
  return refusal('GW_OVERLOADED', detail, ['retry-after', '1'])
}

/** Answers an overload of the threads; any other error is a fault of the policy. Made once, not for every body. */
export function onOverload<A>(answer: A): (error: unknown) => A {
  return (error) => {
    if (error instanceof Overload) return answer
    throw error
  }
}
