import type { Step } from '@sluice/core'
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
