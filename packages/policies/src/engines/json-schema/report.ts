import { type Exchange, type Outcome, type Reply, removeHeader, setHeader } from '@sluice/core'
import { headersOf, type Side } from '../../shared/message/side.js'
import { BODY_REFUSALS } from '../json/refusals.js'

/** Marks what the mode `report` has let pass. */
const HEADER = 'x-gw-validation'
/** Holds what was wrong, for the traffic log and for conditions. */
const VARIABLE = 'validation'

/** Takes the mark off a message, which only the gateway may set. */
export function unmark(x: Exchange, side: Side): void {
  removeHeader(headersOf(x, side), HEADER)
}

/** Marks a message as not valid, or as not checked. */
function mark(x: Exchange, side: Side, word: 'failed' | 'skipped'): void {
  setHeader(headersOf(x, side), HEADER, word)
}

/** Notes what is wrong where operators find it. */
export function note(x: Exchange, wrong: string): void {
  x.setVar(VARIABLE, wrong)
}

/** What becomes of a message that is not valid. The client cannot mend what the upstream says, nor has it to know. */
export function refused(x: Exchange, side: Side, reply: Reply): Reply {
  if (side === 'request') return reply
  note(x, reply.problem?.detail ?? '')
  return BODY_REFUSALS.responseInvalid
}

/** The same in the mode `report`. */
export function reported(x: Exchange, side: Side, reply: Reply): null {
  note(x, reply.problem?.detail ?? '')
  mark(x, side, 'failed')
  return null
}

/** What becomes of a message that nobody had the time to check. */
export function unchecked(x: Exchange, side: Side, isReport: boolean): Outcome {
  if (!isReport) return BODY_REFUSALS.overloaded
  mark(x, side, 'skipped')
  return null
}

/** Whether a message has a body that a schema could describe; of a response not an error, not a part, not nothing. */
export function isChecked({ method, status }: Exchange, side: Side): boolean {
  if (side === 'request') return true
  return (
    method !== 'HEAD' && status >= 200 && status < 300 && status !== 204 && status !== 205 && status !== 206
  )
}
