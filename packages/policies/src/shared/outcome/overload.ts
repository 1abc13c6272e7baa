import { Overload, type Reply, refusal } from '@sluice/core'

/** Creates the refusal of a body for which no worker thread is available. */
export function overloadRefusal(detail: string): Reply {
  return refusal('GW_OVERLOADED', detail, ['retry-after', '1'])
}

/**
 * Creates a handler that returns `answer` if the worker threads are overloaded. It rethrows other errors. Create it
 * once, not for every body.
 */
export function onOverload<A>(answer: A): (error: unknown) => A {
  return (error) => {
    if (error instanceof Overload) return answer
    throw error
  }
}
