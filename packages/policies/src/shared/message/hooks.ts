import {
  CheckFailure,
  type Eventual,
  type Exchange,
  PolicyFailure,
  type Step,
  UnreadableBody,
} from '@sluice/core'
import type { Side } from './side.js'

/** What a policy does with one message: with its head, and with its body, which is collected for that. */
export interface MessageHooks {
  readonly head?: NonNullable<Step['onRequest']>
  readonly body?: NonNullable<Step['onRequestBody']>
}

/** The hooks of a step on the messages that a phase names. */
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

/** Returns the hook of a check whose faults refuse the message, even with `onError: continue`. */
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
