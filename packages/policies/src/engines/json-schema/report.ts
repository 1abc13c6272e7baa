import { type Exchange, type Outcome, type Reply, removeHeader, setHeader } from '@sluice/core'
import { headersOf, type Side } from '../../shared/message/side.js'
import { BODY_REFUSALS } from '../json/refusals.js'

/** Header that marks invalid messages in report mode. */
const HEADER = 'x-gw-validation'
/** Variable with the violations, for the traffic log and for conditions. */
const VARIABLE = 'validation'

/** Removes the mark, which only the gateway may set. */
export function unmark(x: Exchange, side: Side): void {
  removeHeader(headersOf(x, side), HEADER)
}

/** Marks a message as invalid or as not validated. */
function mark(x: Exchange, side: Side, word: 'failed' | 'skipped'): void {
  setHeader(headersOf(x, side), HEADER, word)
}

/** Stores the violations in a variable for operators. */
export function note(x: Exchange, wrong: string): void {
  x.setVar(VARIABLE, wrong)
}

/**
 * Refuses an invalid message. For a response the details go only to the operator: clients cannot fix it and must not
 * see internals.
 */
export function refused(x: Exchange, side: Side, reply: Reply): Reply {
  if (side === 'request') return reply
  note(x, reply.problem?.detail ?? '')
  return BODY_REFUSALS.responseInvalid
}

/** Marks an invalid message in report mode. */
export function reported(x: Exchange, side: Side, reply: Reply): null {
  note(x, reply.problem?.detail ?? '')
  mark(x, side, 'failed')
  return null
}

/** Handles a message that could not be validated because the gateway is overloaded. */
export function unchecked(x: Exchange, side: Side, isReport: boolean): Outcome {
  if (!isReport) return BODY_REFUSALS.overloaded
  mark(x, side, 'skipped')
  return null
}
