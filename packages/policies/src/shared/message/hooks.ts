import {
  CheckFailure,
  type Eventual,
  type Exchange,
  PolicyFailure,
  type Step,
  UnreadableBody,
} from '@sluice/core'
import type { Side } from './side.js'

/** Hooks for the head and the collected body of one message. */
export interface MessageHooks {
  readonly head?: NonNullable<Step['onRequest']>
  readonly body?: NonNullable<Step['onRequestBody']>
}

/** Returns the hooks of a step for the messages of a phase. */
export function hooksOn(phase: Side | 'both', hooksOf: (side: Side) => MessageHooks): Omit<Step, 'name'> {
  const request = phase === 'response' ? {} : hooksOf('request')
  const response = phase === 'request' ? {} : hooksOf('response')
  return {
    ...(request.head !== undefined && { onRequest: request.head }),
    ...(request.body !== undefined && { onRequestBody: request.body }),
    ...(response.head !== undefined && { onResponse: response.head }),
    ...(response.body !== undefined && { onResponseBody: response.body }),
  }
}

/** Returns the hook of a check whose failures refuse the message, even with `onError: continue`. */
export function failClosed<A extends unknown[]>(
  name: string,
  hook: (x: Exchange, ...body: A) => Eventual,
): (x: Exchange, ...body: A) => Eventual {
  const fail = (error: unknown): never => {
    if (error instanceof UnreadableBody || error instanceof PolicyFailure) throw error
    const detail = 'the message could not be checked and was refused'
    throw new CheckFailure('GW_POLICY_ERROR', detail, `${name}: ${String(error)}`)
  }
  return (x, ...body) => {
    try {
      const outcome = hook(x, ...body)
      return outcome instanceof Promise ? outcome.catch(fail) : outcome
    } catch (error) {
      return fail(error)
    }
  }
}
